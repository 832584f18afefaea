// Options of a publisher, its objects and its variables, and their validation.
import { OBJECT_STATES, VALUE_TYPES, schemaOf } from '../../published.js';
import type {
  ObjectState,
  RootIdentity,
  SlotRef,
  ValueType,
  VariableKind,
} from '../../published.js';
import { LIMITS, VARIABLE_KINDS, segmentName } from '../segment/layout.js';
import { seriesName, seriesProblem } from '../segment/series-name.js';
import { name, nameGuess } from '../../rules/formats.js';
import {
  anyOptions,
  callback,
  checkOptions,
  checkValue,
  shownValue,
  utf8,
} from '../../rules/options.js';
import type { OptionRules } from '../../rules/options.js';
import { flag, integer, list, oneOf, rule, suggesting } from '../../rules/rule.js';
import type { Capacity } from './allocators.js';

const MAX_U32 = 2 ** 32 - 1;
/** `checkSchema` refuses NaN and infinity. */
const anyNumber = rule('number', 'a number', (raw) =>
  typeof raw === 'number' || typeof raw === 'bigint' ? raw : undefined,
);

export interface PublisherOptions {
  /** Default `shmApp`. */
  readonly contextId?: string;
  /** Default `pool`. */
  readonly poolName?: string;
  readonly serverKey: string;
  readonly capacity?: Partial<Capacity>;
  /** Milliseconds between heartbeats; 0 for none. Default 1000. */
  readonly heartbeatMs?: number;
  /** Whether variables may have the option `labels`. Readers before version 1.1 then refuse the segment. Default false. */
  readonly series?: boolean;
  /** Permission bits of the file, at most 0o777. Default 0o644. */
  readonly mode?: number;
  /**
   * Whether `publish()` throws SEGMENT_BUSY instead of waiting while another live publisher has the server key. Default
   * false.
   */
  readonly failIfBusy?: boolean;
  /**
   * Called with a sentence when the publisher begins to wait for its server key, and when it gets the key after a wait.
   * Default: writes the sentence to stderr.
   */
  readonly warn?: (sentence: string) => void;
  /** Default: the pid of this process. */
  readonly pid?: number;
  /** Reads CLOCK_REALTIME in ns. Default: reads the system's clock. */
  readonly realtimeNs?: () => bigint;
}

/** The name of the segment of a publisher. */
export const segmentOf = ({
  contextId = 'shmApp',
  poolName = 'pool',
  serverKey,
}: Pick<PublisherOptions, 'contextId' | 'poolName' | 'serverKey'>): string =>
  segmentName(contextId, poolName, serverKey);

export interface ObjectOptions {
  /** Default `normal`. */
  readonly state?: ObjectState;
  /** Default true. */
  readonly synced?: boolean;
  /** Whether the id comes from elsewhere, so that it need not begin with the parent's id. Default false. */
  readonly foreignId?: boolean;
}

export interface RootOptions extends ObjectOptions {
  readonly identity?: Partial<RootIdentity>;
}

export interface VariableOptions {
  readonly kind?: VariableKind;
  readonly unit?: string;
  readonly help?: string;
  /** Upper bounds of a histogram's buckets without +Inf, or quantiles of a summary; ascending. */
  readonly schema?: readonly number[];
  /** The maximum number of bytes of a string value. Default 64. */
  readonly textBytes?: number;
  /**
   * The labels of the metric. If they are present, even without a label, the exporter shows the name of the variable and
   * these labels, without a label `object`. Needs the option `series` of the publisher. Default: the exporter makes the
   * name.
   */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Whether the variable starts with a value: 0, false, an empty text, or no observations. Default: true for
   * histograms and summaries, false for other types.
   */
  readonly synced?: boolean;
}

/** An object of a publisher. `id` is 0 if the segment had no room for it. */
export interface PublishedObject {
  readonly id: number;
  /** Its object id, such as `host.1.shop.till`. */
  readonly name: string;
  readonly ref: SlotRef | undefined;
  readonly parent: PublishedObject | undefined;
  readonly asOf: SlotRef | undefined;
}

/** A suggestion for a server key with `{pid}`, which only functions that publish metrics replace. */
const pidGuess = (raw: unknown): string =>
  typeof raw === 'string' && raw.includes('{pid}')
    ? ' (write the pid: a Publisher does not replace {pid})'
    : '';

/** A suggestion for a mode that is a string, or a decimal number with the digits of an octal one. */
function modeGuess(raw: unknown): string {
  const digits = typeof raw === 'string' || typeof raw === 'bigint' ? String(raw) : '';
  return /^0?[0-7]{3}$/.test(digits) ? ` (write 0o${digits.slice(-3)})` : '';
}

/** All options but `series`. */
export const PUBLISHER_OPTIONS: OptionRules = {
  contextId: name,
  poolName: name,
  serverKey: suggesting(name, (raw) => pidGuess(raw) || nameGuess(raw)),
  capacity: anyOptions,
  heartbeatMs: integer(0, MAX_U32),
  // So a decimal number from 600 to 777, meant as octal, is refused: 0o777 is 511.
  mode: suggesting({ ...integer(0, 0o777), allowed: 'an integer from 0 to 0o777' }, modeGuess),
  failIfBusy: flag,
  warn: callback,
  pid: integer(0, MAX_U32),
  realtimeNs: callback,
};
const CAPACITY: OptionRules = {
  records: integer(1, LIMITS.records),
  stringBytes: integer(1, LIMITS.stringRegionBytes),
  slots: integer(1, LIMITS.slots),
  frameBytes: integer(1, LIMITS.frameRegionBytes),
};
const nameText = utf8(LIMITS.nameBytes);
const seriesText = utf8(LIMITS.seriesBytes);
const OBJECT_OPTIONS: OptionRules = {
  state: oneOf(...OBJECT_STATES),
  synced: flag,
  foreignId: flag,
};
const ROOT_OPTIONS: OptionRules = { ...OBJECT_OPTIONS, identity: anyOptions };
const IDENTITY: OptionRules = { host: nameText, instance: nameText, application: nameText };
const VARIABLE_OPTIONS: OptionRules = {
  kind: oneOf(...VARIABLE_KINDS),
  unit: utf8(LIMITS.unitBytes),
  help: utf8(LIMITS.helpBytes),
  schema: list(anyNumber, { max: LIMITS.schemaEntries }),
  textBytes: integer(0, LIMITS.textBytes),
  labels: anyOptions,
  synced: flag,
};
const valueType = oneOf(...(Object.keys(VALUE_TYPES) as ValueType[]));

/** @throws RangeError for an option that is unknown, invalid or missing */
export function checkPublisher(options: PublisherOptions): void {
  checkOptions('Publisher', options, { ...PUBLISHER_OPTIONS, series: flag }, ['serverKey']);
  if (options.capacity !== undefined)
    checkOptions('Publisher: capacity', options.capacity, CAPACITY);
}

/** @throws RangeError for an argument or option of `addRoot` that is unknown or invalid */
export function checkRoot(id: string, className: string, options: RootOptions): void {
  checkValue('addRoot: name', id, nameText);
  checkValue('addRoot: className', className, nameText);
  checkOptions('addRoot', options, ROOT_OPTIONS);
  if (options.identity !== undefined) checkOptions('addRoot: identity', options.identity, IDENTITY);
}

/** @throws RangeError for an argument or option of `addObject` that is unknown or invalid */
export function checkObject(
  parent: PublishedObject,
  id: string,
  className: string,
  options: ObjectOptions,
): void {
  checkParent('addObject: parent', parent);
  checkValue('addObject: name', id, nameText);
  checkValue('addObject: className', className, nameText);
  checkOptions('addObject', options, OBJECT_OPTIONS);
  if (options.foreignId !== true) checkId(id, parent.name);
}

export function checkParent(name: string, object: unknown): void {
  checkValue(name, object, publishedObject);
}

export const count = integer(0, Number.MAX_SAFE_INTEGER);
export const variableHandle = rule('object', 'a value that addVariable returned', (raw) =>
  typeof raw === 'object' && raw !== null && 'ref' in raw ? raw : undefined,
);
const publishedObject = rule('object', 'an object that addRoot or addObject returned', (raw) =>
  typeof raw === 'object' && raw !== null && 'id' in raw && typeof raw.id === 'number'
    ? raw
    : undefined,
);

/** @throws RangeError unless an id is its parent's id, a dot, and at least one more character */
function checkId(id: string, parentId: string): void {
  if (!id.startsWith(`${parentId}.`) || id.length < parentId.length + 2)
    throw new RangeError(
      `addObject: name: found ${shownValue(id)} below ${shownValue(parentId)}, allowed: ${shownValue(parentId)}, a dot, and at least one more character`,
    );
}

/** The number of a management state. @throws RangeError if there is no such state */
export function stateNumber(state: ObjectState): bigint {
  checkValue('state', state, OBJECT_OPTIONS['state']);
  return BigInt(OBJECT_STATES.indexOf(state));
}

/**
 * Returns the name of the variable in its record.
 * @throws RangeError for a variable that the format does not allow, and for unknown options
 */
export function checkVariable(
  object: PublishedObject,
  name: string,
  type: ValueType,
  options: VariableOptions,
): string {
  checkParent('addVariable: object', object);
  checkValue('addVariable: name', name, nameText);
  checkValue('addVariable: type', type, valueType);
  checkOptions('addVariable', options, VARIABLE_OPTIONS);
  const { schema = [], labels } = options;
  if (schema.length > 0) checkSchema(type, schema);
  return labels === undefined ? name : checkedSeries(name, type, labels);
}

/** The name of a variable that states its series. @throws RangeError for a series that the format does not allow */
function checkedSeries(name: string, type: ValueType, labels: Readonly<Record<string, string>>) {
  for (const [label, value] of Object.entries(labels))
    checkValue(`addVariable: labels: ${label}`, value, seriesText);
  const problem = seriesProblem({ name, labels }, type);
  if (problem !== undefined) throw new RangeError(`addVariable: the series ${problem}`);
  const series = seriesName(name, labels);
  checkValue('addVariable: name and labels', series, seriesText);
  return series;
}

function checkSchema(type: ValueType, schema: readonly number[]): void {
  const refusal = (allowed: string) =>
    new RangeError(`addVariable: schema: found ${schema.join(', ')}, allowed: ${allowed}`);
  const meaning = schemaOf(type);
  if (meaning === undefined) throw refusal(`none for type ${type}`);
  if (!schema.every(Number.isFinite)) throw refusal('finite numbers; +Inf is implied');
  if (schema.some((entry, i) => i > 0 && entry <= (schema[i - 1] ?? entry)))
    throw refusal('numbers in ascending order');
  if (meaning === 'quantiles' && schema.some((quantile) => quantile < 0 || quantile > 1))
    throw refusal('quantiles from 0 to 1');
}
