// Tests the types of values of a component, and the detection of its restarts.
import { expect } from 'chai';
import fc from 'fast-check';
import { inspect } from 'node:util';
import type { Json } from '#app/bridge/poll/json-document.js';
import { RestartWatch, UNKNOWN, vendorType } from '#app/bridge/tree/component-tree.js';
import { readTree } from '#app/bridge/tree/read-tree.js';

type Row = readonly [type: string, raw: Json, published: string | undefined];

/** Returns `type value` in the form of the tables below. */
const published = (type: string, raw: Json): string | undefined => {
  const read = vendorType(type).read(raw);
  return read === undefined ? undefined : `${read.type} ${String(read.value)}`;
};

describe('The table of vendor types', () => {
  const rows: readonly Row[] = [
    ['Boolean', true, 'bool true'],
    ['Boolean Config', false, 'bool false'],
    ['Boolean', 1, 'bool true'],
    ['Boolean', 0, 'bool false'],
    ['Boolean', 2, undefined],
    ['Boolean', 'true', undefined],
    ['Counter', 0, 'u64 0'],
    ['Counter', 4294967295, 'u64 4294967295'],
    ['Counter', 2 ** 53 - 1, 'u64 9007199254740991'],
    ['Counter', 2n ** 53n + 1n, 'u64 9007199254740993'],
    ['Counter', 2n ** 63n, 'u64 9223372036854775808'],
    ['Counter', 2n ** 64n - 1n, 'u64 18446744073709551615'],
    ['Counter', 2n ** 64n, 'f64 18446744073709552000'],
    ['Counter', -1, 'u64 4294967295'],
    ['Counter', -(2 ** 31), 'u64 2147483648'],
    ['Counter', -(2 ** 31) - 1, 'u64 18446744071562067967'],
    ['Counter', -(2n ** 63n), 'u64 9223372036854775808'],
    ['Counter', 1.5, 'f64 1.5'],
    ['Counter', -1.5, undefined],
    ['Counter', '5', undefined],
    ['Gauge', -7, 'i64 -7'],
    ['Gauge Config', 100, 'i64 100'],
    ['Gauge', -0, 'i64 0'],
    ['Gauge', 0.25, 'f64 0.25'],
    ['Gauge', 1e16, 'i64 10000000000000000'],
    ['Gauge', 1e300, 'f64 1e+300'],
    ['Gauge', Infinity, undefined],
    ['Numeric', -2147483648, 'i64 -2147483648'],
    ['Numeric Config', 5, 'i64 5'],
    ['Numeric', true, undefined],
    ['Numeric', null, undefined],
    ['Numeric', [1], undefined],
    ['Large Numeric', 2n ** 63n - 1n, 'i64 9223372036854775807'],
    ['Large Numeric', 2n ** 63n, 'u64 9223372036854775808'],
    ['Large Numeric', -(2n ** 63n), 'i64 -9223372036854775808'],
    ['Large Numeric', -(2n ** 63n) - 1n, 'f64 -9223372036854776000'],
    ['Counter', -(2n ** 63n) - 1n, undefined],
    ['Numeric Range', '42 (0..100)', 'i64 42'],
    ['Numeric Range', '-3 (-10..10)', 'i64 -3'],
    ['Numeric Range', '+3 (0..10)', 'i64 3'],
    ['Numeric Range', '7', 'i64 7'],
    ['Numeric Range', '0.5 (0..1)', 'f64 0.5'],
    ['Numeric Range', '9007199254740993 (0..1)', 'i64 9007199254740993'],
    ['Numeric Range', '18446744073709551615 (0..1)', 'u64 18446744073709551615'],
    ['Numeric Range', '99999999999999999999999 (0..1)', undefined],
    ['Numeric Range', 42, 'i64 42'],
    ['Numeric Range', '(0..100)', undefined],
    ['Numeric Range', '', undefined],
    ['Numeric Range', '1e+06 (0..2e+06)', 'i64 1000000'],
    ['Numeric Range', '-5(0..1)', 'i64 -5'],
    ['Numeric Range', '42%', 'i64 42'],
    ['Numeric Range', '12,345 (0..99999)', undefined],
    ['Numeric Range', '0x1F (0..9)', undefined],
    ['String', 'a', 'string a'],
    ['String Config', '', 'string '],
    ['String', 42, 'string 42'],
    ['String', 2n ** 64n, 'string 18446744073709551616'],
    ['String', false, 'string false'],
    ['String', null, undefined],
    ['String', {}, undefined],
    ['String', '\ud800', 'string \ufffd'],
    ['Exotic', 'text', 'string text'],
    ['Exotic', 5, 'i64 5'],
    ['Exotic', 0.5, 'f64 0.5'],
    ['Exotic', true, 'bool true'],
    ['Exotic', [], undefined],
    ['', 2n ** 63n, 'u64 9223372036854775808'],
  ];
  for (const [type, raw, wanted] of rows)
    it(`reads ${typeof raw} ${inspect(raw)} of type ${JSON.stringify(type)} as ${wanted?.replace(/ $/, ' that is empty') ?? 'no value'}`, () =>
      expect(published(type, raw)).to.equal(wanted));

  const KINDS = {
    Counter: 'counter',
    Gauge: 'gauge',
    'Gauge Config': 'gauge',
    'Numeric Range': 'gauge',
    Numeric: 'unknown',
    'Large Numeric': 'unknown',
    Boolean: 'unknown',
    String: 'unknown',
    Exotic: 'unknown',
  };
  for (const [type, kind] of Object.entries(KINDS))
    it(`maps ${type} to kind ${kind}`, () => expect(vendorType(type).kind).to.equal(kind));

  it('knows the types of ADS and ADH 3.8, and no others', () => {
    for (const type of ['Boolean Config', 'String Config', 'Large Numeric', 'Numeric Range'])
      expect(vendorType(type), type).not.to.equal(UNKNOWN);
    for (const type of ['Exotic', '', 'counter', 'Config', 'constructor', '__proto__'])
      expect(vendorType(type), type).to.equal(UNKNOWN);
  });

  it('keeps every integer of 64 bits exact', () => {
    const integer = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(integer, fc.constantFrom('Numeric', 'Large Numeric', 'Gauge'), (value, type) => {
        const raw = Number.isSafeInteger(Number(value)) ? Number(value) : value;
        const { value: read } = vendorType(type).read(raw) ?? { value: 'nothing' };
        expect(BigInt(read)).to.equal(value);
      }),
    );
  });
});

// Tests RestartWatch, which detects that a component is a new process.
interface Run {
  readonly pid?: number;
  readonly time?: string;
  readonly id?: string;
  readonly className?: string;
}

const LIMITS = { maxObjects: 100, maxVariables: 100, maxDepth: 10 };
const HOST = 'host.1.ads';

/** Returns the tree of a process, with another root before it. */
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

describe('A restart watch', () => {
  const rows: readonly (readonly [what: string, runs: readonly Run[], seen: readonly boolean[]])[] =
    [
      ['no restart at the first tree', [{ pid: 1, time: MONDAY }], [false]],
      [
        'no restart while processID and time are constant',
        [
          { pid: 1, time: MONDAY },
          { pid: 1, time: MONDAY },
        ],
        [false, false],
      ],
      [
        'a changed processID',
        [
          { pid: 1, time: MONDAY },
          { pid: 2, time: MONDAY },
        ],
        [false, true],
      ],
      [
        'a changed start time of process 1, as after the restart of a container',
        [
          { pid: 1, time: MONDAY },
          { pid: 1, time: TUESDAY },
        ],
        [false, true],
      ],
      [
        'a changed processID without a time',
        [{ pid: 1 }, { pid: 2 }, { pid: 2 }],
        [false, true, false],
      ],
      ['a changed time without a processID', [{ time: MONDAY }, { time: TUESDAY }], [false, true]],
      ['no restart in trees without processID and time', [{}, {}], [false, false]],
      [
        'no restart when the root has a new id',
        [{ pid: 1 }, { pid: 2, id: 'host.2.ads' }],
        [false, false],
      ],
      [
        'no restart of a root that is not a process',
        [
          { pid: 1, className: 'X' },
          { pid: 2, className: 'X' },
        ],
        [false, false],
      ],
      [
        'no restart when trees omit processID and time, but a restart when a later tree has another processID',
        [{ pid: 1, time: MONDAY }, {}, { pid: 1, time: MONDAY }, {}, { pid: 2, time: MONDAY }],
        [false, false, false, false, true],
      ],
      [
        'no restart when processID and time appear later',
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
    it(`detects ${what}`, () => expect(verdicts(...runs)).to.deep.equal(seen));

  it('ignores a start time that changes at each poll, because it must be a clock', () => {
    const ticks = Array.from({ length: 8 }, (_, n) => ({ pid: 1, time: `08:00:0${n}` }));
    expect(verdicts(...ticks)).to.deep.equal([false, true, true, true, false, false, false, false]);
    expect(verdicts(...ticks, { pid: 2, time: '08:00:09' }).at(-1)).to.equal(true);
  });

  it('compares start times again once a process keeps running after many restarts in a row', () => {
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

  it('detects restarts that are hours apart, and does not mistake their start times for a clock', () => {
    const lives = Array.from({ length: 10 }, (_, n) => ({ pid: 1, time: `day ${n}` }));
    const seen = verdicts(...lives.flatMap((life) => [life, life, life]));
    expect(seen.filter(Boolean)).to.have.lengthOf(9);
  });
});
