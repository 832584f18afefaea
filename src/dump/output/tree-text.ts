// The contents of a segment as text for people.
import type { TreeValue, Variable } from '../../model.js';
import {
  ageText,
  agoText,
  countText,
  grouped,
  nameText,
  quotedText,
  sentence,
  timeText,
} from '../../shown/shown-text.js';
import type { SegmentStatus } from '../segment/followed-segment.js';
import { pathOf, treeItems } from '../tree/tree-items.js';
import type { Choice, TreeItem, TreeReading } from '../tree/tree-items.js';

/** Lines about the segment and its publisher, safe for a terminal. */
export function headingLines(status: SegmentStatus, nowMs: number): readonly string[] {
  const { name, generation, publisher, process: owner, heartbeatAge, drops } = status;
  const { startedUnixMs: started } = owner;
  const beat = heartbeatAge === undefined ? 'none' : `${ageText(heartbeatAge)} ago`;
  const last = publisher.state === 'live' ? '' : '; these are its last values';
  const where = owner.isElsewhere === true ? ' (in another PID namespace)' : '';
  const lost = drops.objects + drops.variables;
  return [
    `segment    ${name}, generation ${generation}`,
    `publisher  ${publisher.state}: ${publisher.reason}${last}`,
    `process    pid ${owner.pid}${where}, started ${timeText(started)} (${agoText(started, nowMs)})`,
    `heartbeat  ${beat}`,
    ...(lost === 0
      ? []
      : [
          `no room    for ${countText(drops.objects, 'object')} and ${countText(drops.variables, 'variable')}`,
        ]),
  ];
}

/** The line of an object or a variable, safe for a terminal. */
interface ItemText {
  readonly text: string;
  readonly isSynced: boolean;
}

/** The widths of the name and declaration columns. A longer text shifts the rest of its line. */
const NAME_COLUMNS = 26;
const DECLARED_COLUMNS = 14;
/** The deepest indentation, in levels. */
const MAX_LEVEL = 8;

export const itemText = (item: TreeItem, reading: TreeReading, nowMs: number): ItemText =>
  item.kind === 'object' ? objectText(item, reading, nowMs) : variableText(item, reading);

function objectText(
  { object, root, depth }: Extract<TreeItem, { kind: 'object' }>,
  reading: TreeReading,
  nowMs: number,
): ItemText {
  const { value, isSynced } = reading.texts.ofObject(object);
  const asOfMs = reading.asOfMs(object);
  const parts = [
    indented(nameText(pathOf(object, root)), depth),
    nameText(object.className),
    valueText(value),
    ...(asOfMs === undefined ? [] : [`values of ${timeText(asOfMs)} (${agoText(asOfMs, nowMs)})`]),
  ];
  return { text: parts.join('  '), isSynced };
}

function variableText(
  { variable, depth }: Extract<TreeItem, { kind: 'variable' }>,
  reading: TreeReading,
): ItemText {
  const { value, isSynced } = reading.texts.ofVariable(variable);
  const name = indented(nameText(variable.name), depth + 1).padEnd(NAME_COLUMNS);
  return {
    text: `${name}  ${declaredText(variable).padEnd(DECLARED_COLUMNS)}  ${valueText(value)}`,
    isSynced,
  };
}

/** The declaration of a variable, such as `u64 counter bytes`. */
const declaredText = ({ type, kind, unit }: Variable): string =>
  [type, kind === 'unknown' ? '' : kind, unit === '' ? '' : nameText(unit)]
    .filter(Boolean)
    .join(' ');

const indented = (text: string, depth: number): string =>
  `${'  '.repeat(Math.min(depth, MAX_LEVEL))}${text}`;

function valueText(value: TreeValue): string {
  if (value.kind === 'none') return `(${value.reason})`;
  if (value.kind === 'plain') return sentence(value.text);
  const { text, characters } = value;
  const more = characters > text.length ? `… (${grouped(characters)} characters)` : '';
  return `${quotedText(text)}${more}`;
}

/** Yields the lines of a whole dump: the segment, its tree, and the number of items. */
export function* treeText(
  status: SegmentStatus,
  reading: TreeReading,
  choice: Choice,
  nowMs: number,
): Generator<string> {
  yield* headingLines(status, nowMs);
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

/** The minimum number of characters of each buffer except the last. */
const BUFFER_CHARACTERS = 32_768;

/**
 * Joins lines into output buffers.
 * @param onNext called when the reader asks for the next buffer
 */
export function* buffers(lines: Iterable<string>, onNext: () => void): Generator<Uint8Array> {
  let text = '';
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < BUFFER_CHARACTERS) continue;
    yield Buffer.from(text);
    text = '';
    onNext();
  }
  if (text !== '') yield Buffer.from(text);
}
