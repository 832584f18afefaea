// Tests for torn reads while a second process publishes at full speed.
import { expect } from 'chai';
import type { Frame, Source, Variable } from '#app/model.js';
import { freshChildren } from '../../support/children.js';
import { freshSegments } from '../../support/segments.js';
import { textOf } from '../../support/checkable-values.js';

const READS = 4000;
/** How often each variable must change, at least, before the test ends. */
const CHANGES = 100;

/** Returns the count from which a frame was made, or undefined if it mixes several counts. */
function countOf(frame: Frame): number | undefined {
  if (frame.type === 'string') {
    const count = Number.parseInt(frame.text);
    return frame.text === textOf(count) ? count : undefined;
  }
  const all = new Set(
    frame.type === 'histogram'
      ? [frame.sum, ...[...frame.counts].map(Number)]
      : [Number(frame.count), frame.sum, ...frame.values],
  );
  return all.size === 1 ? frame.sum : undefined;
}

describe('A reader of values that change all the time (segment format, section 4)', () => {
  const children = freshChildren();
  const segments = freshSegments();

  it(`returns only complete values, in order, in ${READS} reads`, async () => {
    const child = children.start('fast-publisher', segments.contextId, '82');
    await children.message(child);
    const { source } = segments.poller('82').poll();
    if (source === undefined) throw new Error('The publisher is not live');
    const [word, ...framed] = [...([...source.roots][0]?.variables ?? [])];
    if (word === undefined) throw new Error('There are no variables');

    const torn: unknown[] = [];
    const last = new Map<Variable, number>();
    let whole = 0;
    const hasMoved = () => framed.every((variable) => (last.get(variable) ?? 0) > CHANGES);
    for (let read = 0; read < READS || !hasMoved(); read++) {
      const pair = wordOf(source, word);
      if (pair >> 32n !== (pair & 0xffffffffn)) torn.push(pair);
      const variable = framed[read % framed.length];
      const frame = variable === undefined ? undefined : source.readFrame(variable);
      if (variable === undefined || frame === undefined) continue;
      whole++;
      const count = countOf(frame);
      if (count === undefined || count < (last.get(variable) ?? 0)) torn.push(frame);
      else last.set(variable, count);
    }
    expect(torn).to.deep.equal([]);
    expect(whole, 'whole copies').to.be.above(READS / 10);
  });
});

function wordOf(source: Source, { slot }: Variable): bigint {
  const into = Buffer.alloc(8);
  source.readSlots(slot, 1, into);
  return into.readBigUInt64LE();
}
