// What a segment holds, as text for people.
import { countText, grouped } from '../../shown/ages.js';
import type { SegmentFacts } from '../segment/seen-segment.js';
import { treeItems } from '../tree/tree-items.js';
import type { Choice } from '../tree/tree-items.js';
import type { TreeReading } from '../tree/tree-reading.js';
import { headingLines } from './heading.js';
import { itemText } from './item-text.js';

/** The lines of a whole dump: about the segment, its tree, and how much that is. */
export function* treeText(
  facts: SegmentFacts,
  reading: TreeReading,
  choice: Choice,
  nowMs: number,
): Generator<string> {
  yield* headingLines(facts, nowMs);
  yield '';
  const counts = { object: 0, variable: 0, unsynced: 0 };
  for (const item of treeItems(reading, choice)) {
    const { text, isSynced } = itemText(item, reading, nowMs);
    counts[item.kind]++;
    if (!isSynced) counts.unsynced++;
    yield text;
  }
  yield '';
  const { object, variable, unsynced } = counts;
  const waiting = `${grouped(unsynced)} of them not synced`;
  yield `${countText(object, 'object')}, ${countText(variable, 'variable')}, ${waiting}`;
}
