// One object or variable as a line of text, safe for a terminal.
import type { TreeValue, Variable } from '../../model.js';
import { agoText, grouped, timeText } from '../../shown/ages.js';
import { nameText, quotedText, sentence } from '../../shown/shown-text.js';
import { pathOf } from '../tree/chosen-objects.js';
import type { TreeItem } from '../tree/tree-items.js';
import type { TreeReading } from '../tree/tree-reading.js';

export interface ItemText {
  readonly text: string;
  readonly isSynced: boolean;
}

/** Columns of names and of declarations; longer ones push the rest to the right. */
const NAME_COLUMNS = 26;
const DECLARED_COLUMNS = 14;
/** Indented levels; deeper objects are indented like these. */
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

/** Such as `u64 counter bytes`. */
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
