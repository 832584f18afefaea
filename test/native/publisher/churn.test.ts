// Tests slots that change owners all the time, with a concurrent reader and with SIGKILL.
import { expect } from 'chai';
import type { ChildProcess } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { Fault } from '#app/errors.js';
import type { ManagedObject, Source, Variable } from '#app/model.js';
import { freshChildren } from '../../support/children.js';
import { freshSegments } from '../../support/segments.js';
import { waitFor } from '../../support/processes.js';

const SLOTS = 40;
const POLLS = 1000;
const KILLS = 8;
/** The number of processes that start together. The test kills them one after the other. */
const AT_ONCE = 4;
const RACES = 2;

/** Yields the values that a reader would serve now, each with its variable. */
function* served(source: Source): Generator<readonly [Variable, string]> {
  const variables = [...source.roots].flatMap((root) =>
    [...root.children].flatMap(({ variables }: ManagedObject) => [...variables]),
  );
  const slots = Buffer.alloc(SLOTS * 8);
  const words = Buffer.alloc(SLOTS * 4);
  const wordsBefore = Buffer.alloc(SLOTS * 4);
  source.readWords(0, SLOTS, wordsBefore);
  source.readSlots(0, SLOTS, slots);
  const frames = new Map(variables.map((variable) => [variable, source.readFrame(variable)]));
  source.readWords(0, SLOTS, words);
  for (const variable of variables) {
    const { slot, incarnation, type } = variable;
    const synced = ((incarnation << 1) | 1) >>> 0;
    if (words.readUInt32LE(slot * 4) !== synced) continue;
    // Skip a value that was synced only after its slot was copied: the copy may be older than the value.
    if (wordsBefore.readUInt32LE(slot * 4) !== synced) continue;
    const frame = frames.get(variable);
    if (type === 'u64') yield [variable, `${slots.readBigUInt64LE(slot * 8)}`];
    else if (frame?.type === 'string') yield [variable, frame.text];
  }
}

describe('A reader of slots and frames whose owners change all the time (segment format, section 6)', () => {
  const children = freshChildren();
  const segments = freshSegments();

  it(`never pairs an old name with a new value in ${POLLS} polls`, async () => {
    await children.go(await children.ready('churning-publisher', segments.contextId, '82'));
    const watch = segments.poller('82');
    const wrong: unknown[] = [];
    const names = new Set<string>();
    for (let poll = 0; poll < POLLS; poll++) {
      const { source, publisher } = watch.poll();
      if (source === undefined) throw new Error(publisher.reason);
      for (const [{ name, type }, value] of served(source)) {
        names.add(name);
        if (value !== name) wrong.push([name, type, value]);
      }
    }
    expect(wrong).to.deep.equal([]);
    expect(names.size, 'different clients seen').to.be.above(50);
  });
});

describe('A publisher that is killed at any instruction (segment format, section 3)', () => {
  const children = freshChildren();
  const segments = freshSegments();

  it(`is reported as dead, and the next publisher replaces it, in each of ${KILLS} kills`, async () => {
    const watch = segments.poller('82');
    let source: Source | undefined;
    const die = async (child: ChildProcess) => {
      await children.go(child);
      const live = await waitFor('a new generation', () => {
        const { source: seen } = watch.poll();
        return seen !== source ? seen : undefined;
      });
      for (const [{ name }, value] of served(live)) expect(value).to.equal(name);
      source = live;
      await setTimeout(Math.random() * 4);
      await children.kill(child);
      const { publisher } = segments.poller('82').poll();
      expect(publisher).to.deep.equal({ state: 'dead', reason: 'publisher died without closing' });
    };
    const start = () => children.ready('churning-publisher', segments.contextId, '82');
    for (let killed = 0; killed < KILLS; killed += AT_ONCE)
      for (const child of await Promise.all(Array.from({ length: AT_ONCE }, start)))
        await die(child);
  });
});

describe('One of two publishers with the same server key (segment format, section 9)', () => {
  const children = freshChildren();
  const segments = freshSegments();

  it('gets an error with the path of the segment if the other runs already, and the other stays live', async () => {
    await children.go(await children.ready('churning-publisher', segments.contextId, '82'));
    expect(() => segments.publish('82'))
      .to.throw(Fault, `another publisher holds ${segments.path('82')}`)
      .with.property('code', 'SEGMENT_BUSY');
    expect(segments.poller('82').poll().publisher.state).to.equal('live');
  });

  it(`gets an error if both start at once after an earlier publisher was killed, in each of ${RACES} races`, async () => {
    for (let race = 0; race < RACES; race++) {
      const start = () => children.ready('racing-publisher', segments.contextId, '82');
      const racers = await Promise.all([start(), start()]);
      const outcomes = await Promise.all(racers.map((racer) => children.go(racer)));
      const [loser, winner] = outcomes.map(String).sort();
      const path = segments.path('82');
      expect(loser).to.include(`SEGMENT_BUSY: another publisher holds ${path} (process `);
      expect(winner).to.equal('placed');
      expect(segments.poller('82').poll().publisher.state).to.equal('live');
      await Promise.all(racers.map((racer) => children.kill(racer)));
      expect(segments.poller('82').poll().publisher.state).to.equal('dead');
    }
  });
});
