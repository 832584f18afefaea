// The contents of a segment as JSON lines. docs/shm_dump.md describes them.
import type { NodeValue } from '../../exposition/read/node-values.js';
import { numberText } from '../../exposition/text/text-syntax.js';
import type { Frame, ManagedObject, Variable } from '../../model.js';
import { sentence } from '../../shown/shown-text.js';
import type { SegmentStatus } from '../segment/followed-segment.js';
import { treeItems } from '../tree/tree-items.js';
import type { Choice, TreeReading } from '../tree/tree-items.js';

/**
 * Yields a line about the segment, a line for each object and variable, and a line with the numbers of objects and
 * variables.
 */
export function* treeJson(
  status: SegmentStatus,
  reading: TreeReading,
  choice: Choice,
  nowMs: number,
): Generator<string> {
  yield lineOf(segmentFields(status, nowMs));
  const counts = { object: 0, variable: 0, unsynced: 0 };
  for (const item of treeItems(reading, choice)) {
    const fields =
      item.kind === 'object'
        ? objectFields(item.object, reading)
        : variableFields(item.variable, reading);
    counts[item.kind]++;
    if (!fields.synced) counts.unsynced++;
    yield lineOf(fields);
  }
  const { object: objects, variable: variables, unsynced } = counts;
  yield lineOf({ kind: 'end', objects, variables, unsynced });
}

/** Returns a JSON line. Also escapes control characters that JSON allows, since a terminal would act on them. */
const lineOf = (fields: object): string => sentence(JSON.stringify(fields));

function segmentFields(status: SegmentStatus, nowMs: number): object {
  const { name, generation, publisher, process: owner, heartbeatAge, drops } = status;
  return {
    kind: 'segment',
    segment: name,
    generation,
    read_unix_ms: nowMs,
    publisher: {
      state: publisher.state,
      reason: publisher.reason,
      pid: owner.pid,
      other_pid_namespace: owner.isElsewhere === true,
      started_unix_ms: owner.startedUnixMs,
      heartbeat_age_seconds: heartbeatAge ?? null,
    },
    dropped: drops,
  };
}

function objectFields(object: ManagedObject, reading: TreeReading) {
  const { name, className, parent, identity } = object;
  const state = reading.values.ofObject(object);
  return {
    kind: 'object',
    id: name,
    class: className,
    parent: parent?.name ?? null,
    synced: state !== undefined,
    state: state ?? null,
    ...(parent === undefined && { ...identity, as_of_unix_ms: reading.asOfMs(object) ?? null }),
  };
}

function variableFields(variable: Variable, reading: TreeReading) {
  const { name, object, type, kind, unit, help } = variable;
  const value = reading.values.ofVariable(variable);
  return {
    kind: 'variable',
    object: object.name,
    name,
    type,
    declared: kind,
    unit,
    help,
    synced: value.kind !== 'unsynced',
    value: jsonValue(value, variable),
  };
}

function jsonValue(value: NodeValue, { type, schema }: Variable): unknown {
  if (value.kind === 'number') return type === 'bool' ? value.number !== 0n : json(value.number);
  return value.kind === 'frame' ? jsonFrame(value.frame, schema) : null;
}

function jsonFrame(frame: Frame, schema: readonly number[]): unknown {
  if (frame.type === 'string') return frame.text;
  const { type, sum } = frame;
  if (type === 'histogram')
    return { sum: json(sum), bounds: schema.map(json), counts: [...frame.counts].map(json) };
  const { count, values } = frame;
  return {
    count: json(count),
    sum: json(sum),
    quantiles: schema.map(json),
    values: [...values].map(json),
  };
}

/** A JSON number if a double holds the value exactly, else a string. */
function json(number: bigint | number): number | string {
  const isExact =
    typeof number === 'number' ? Number.isFinite(number) : Number.isSafeInteger(Number(number));
  return isExact ? Number(number) : numberText(number);
}
