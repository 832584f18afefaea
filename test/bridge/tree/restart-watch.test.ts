// Whether a component is still the process that it was.
import { expect } from 'chai';
import { readTree } from '#app/bridge/tree/read-tree.js';
import { RestartWatch } from '#app/bridge/tree/component-tree.js';

interface Run {
  readonly pid?: number;
  readonly time?: string;
  readonly id?: string;
  readonly className?: string;
}

const LIMITS = { maxObjects: 100, maxVariables: 100, maxDepth: 10 };
const HOST = 'host.1.ads';

/** The tree of a process, with what else stands at its top. */
const treeOf = ({ pid, time, id = HOST, className = 'ManagedProcess.SinkDist' }: Run) =>
  readTree(
    [
      {
        Instance: 'host.1.ads.dacs',
        Class: 'Other',
        Variables: [{ Name: 'processID', Type: 'Numeric', Value: Math.random() }],
      },
      {
        Instance: id,
        Class: className,
        Variables: [
          ...(pid === undefined ? [] : [{ Name: 'processID', Type: 'Numeric', Value: pid }]),
          ...(time === undefined ? [] : [{ Name: 'time', Type: 'String', Value: time }]),
        ],
      },
    ],
    LIMITS,
  );

const verdicts = (...runs: readonly Run[]): readonly boolean[] => {
  const watch = new RestartWatch();
  return runs.map((run) => watch.sees(treeOf(run)));
};

const MONDAY = 'Mon Jan  5 08:00:00 2026';
const TUESDAY = 'Tue Jan  6 08:00:00 2026';

describe('RestartWatch', () => {
  const rows: readonly (readonly [what: string, runs: readonly Run[], seen: readonly boolean[]])[] =
    [
      ['nothing at the first tree', [{ pid: 1, time: MONDAY }], [false]],
      [
        'nothing while both stay',
        [
          { pid: 1, time: MONDAY },
          { pid: 1, time: MONDAY },
        ],
        [false, false],
      ],
      [
        'another processID',
        [
          { pid: 1, time: MONDAY },
          { pid: 2, time: MONDAY },
        ],
        [false, true],
      ],
      [
        'another start time of process 1, as in containers',
        [
          { pid: 1, time: MONDAY },
          { pid: 1, time: TUESDAY },
        ],
        [false, true],
      ],
      [
        'a processID where there is no time',
        [{ pid: 1 }, { pid: 2 }, { pid: 2 }],
        [false, true, false],
      ],
      ['a time where there is no processID', [{ time: MONDAY }, { time: TUESDAY }], [false, true]],
      ['nothing where there is neither', [{}, {}], [false, false]],
      [
        'nothing when a root is another one',
        [{ pid: 1 }, { pid: 2, id: 'host.2.ads' }],
        [false, false],
      ],
      [
        'nothing at roots that are no processes',
        [
          { pid: 1, className: 'X' },
          { pid: 2, className: 'X' },
        ],
        [false, false],
      ],
      [
        'nothing where a tree leaves them out, and another one behind it',
        [{ pid: 1, time: MONDAY }, {}, { pid: 1, time: MONDAY }, {}, { pid: 2, time: MONDAY }],
        [false, false, false, false, true],
      ],
      [
        'nothing where they come late',
        [{}, { pid: 1 }, { pid: 1, time: MONDAY }, { pid: 1, time: TUESDAY }],
        [false, false, false, true],
      ],
      [
        'each of several restarts',
        [{ pid: 1 }, { pid: 2 }, { pid: 3 }, { pid: 3 }, { pid: 1 }],
        [false, true, true, false, true],
      ],
    ];
  for (const [what, runs, seen] of rows)
    it(`sees ${what}`, () => expect(verdicts(...runs)).to.deep.equal(seen));

  it('finds out that a time which goes on from poll to poll is a clock, and heeds it no more', () => {
    const ticks = Array.from({ length: 8 }, (_, n) => ({ pid: 1, time: `08:00:0${n}` }));
    expect(verdicts(...ticks)).to.deep.equal([false, true, true, true, false, false, false, false]);
    expect(verdicts(...ticks, { pid: 2, time: '08:00:09' }).at(-1)).to.equal(true);
  });

  it('heeds again a time that stands still after many restarts in a row, as process 1 of a container', () => {
    const crashes = Array.from({ length: 8 }, (_, n) => ({ pid: 1, time: `08:00:0${n}` }));
    const life = Array.from({ length: 3 }, () => ({ pid: 1, time: MONDAY }));
    const seen = verdicts(...crashes, ...life, { pid: 1, time: MONDAY }, { pid: 1, time: TUESDAY });
    expect(seen.at(-1)).to.equal(true);
    const clock = Array.from({ length: 20 }, (_, n) => ({ pid: 1, time: `${n >> 1}` }));
    expect(
      verdicts(...crashes, ...clock)
        .slice(8)
        .filter(Boolean),
    ).to.deep.equal([]);
  });

  it('does not take a few restarts, hours apart, for a clock', () => {
    const lives = Array.from({ length: 10 }, (_, n) => ({ pid: 1, time: `day ${n}` }));
    const seen = verdicts(...lives.flatMap((life) => [life, life, life]));
    expect(seen.filter(Boolean)).to.have.lengthOf(9);
  });
});
