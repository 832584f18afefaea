// Converts the JSON document of a component to its tree, and counts oddities.
import type { ObjectState } from '../../model.js';
import { LIMITS } from '../../native/segment/layout.js';
import { PollFailure } from '../poll/fetch-body.js';
import type { Json, JsonObject } from '../poll/json-document.js';
import { ODDITIES, UNKNOWN, vendorType } from './component-tree.js';
import type {
  ComponentObject,
  ComponentTree,
  ComponentVariable,
  OddityKind,
} from './component-tree.js';

/** States by name, in lower case and with letters only, since the exact spelling of most states is unknown. */
const STATES: ReadonlyMap<string, ObjectState> = new Map<string, ObjectState>([
  ['init', 'init'],
  ['initializing', 'init'],
  ['manualrecovery', 'manual_recovery'],
  ['autorecovery', 'auto_recovery'],
  ['automaticrecovery', 'auto_recovery'],
  ['dead', 'dead'],
  ['invalid', 'invalid'],
]);

/** A missing or unknown state counts as normal. */
function objectState(raw: unknown): ObjectState {
  if (typeof raw !== 'string' || raw.length > 64) return 'normal';
  return STATES.get(raw.toLowerCase().replace(/[^a-z]/g, '')) ?? 'normal';
}

export interface TreeLimits {
  readonly maxObjects: number;
  readonly maxVariables: number;
  /** The maximum number of objects on a path, including the root. */
  readonly maxDepth: number;
}

/** The maximum number of unknown type names to keep from one tree. */
const MAX_TYPES = 10;

/**
 * The tree of a document.
 * @throws PollFailure `bad_shape`, `no_data`, `too_deep` or `too_many`
 */
export function readTree(document: Json, limits: TreeLimits): ComponentTree {
  if (!isList(document))
    throw new PollFailure('bad_shape', `the document is ${kindOf(document)}, allowed: an array`);
  if (document.length === 0) throw new PollFailure('no_data', 'the document is an empty array');
  const reading = new ReadTree(limits);
  for (const item of document) reading.addObject(item, undefined, 1);
  if (reading.objects.size === 0)
    throw new PollFailure(
      'bad_shape',
      `the document is an array of ${document.length} items, allowed: at least one object with an Instance`,
    );
  return reading;
}

class ReadTree implements ComponentTree {
  readonly objects = new Map<string, ComponentObject>();
  readonly unknownTypes: string[] = [];
  readonly oddities = Object.fromEntries(
    Object.keys(ODDITIES).map((oddity) => [oddity, 0]),
  ) as Record<OddityKind, number>;
  readonly #limits: TreeLimits;
  variableCount = 0;

  constructor(limits: TreeLimits) {
    this.#limits = limits;
  }

  addObject(raw: Json, parent: ComponentObject | undefined, depth: number): void {
    const { maxObjects, maxDepth } = this.#limits;
    const id = isObject(raw) ? nameOf(raw['Instance']) : undefined;
    if (!isObject(raw) || id === undefined) {
      this.oddities.unusable_objects++;
      return;
    }
    if (this.objects.has(id)) {
      this.oddities.duplicate_objects++;
      return;
    }
    if (depth > maxDepth)
      throw new PollFailure('too_deep', `objects are nested deeper than max_depth (${maxDepth})`);
    if (this.objects.size >= maxObjects)
      throw new PollFailure('too_many', `more objects than max_objects (${maxObjects})`);
    const object: ComponentObject = {
      id,
      className: nameOf(raw['Class']) ?? '',
      state: objectState(raw['State']),
      parent,
      variables: this.#variables(raw['Variables']),
    };
    this.objects.set(id, object);
    for (const child of listOf(raw['Children'])) this.addObject(child, object, depth + 1);
  }

  #variables(raw: Json | undefined): ReadonlyMap<string, ComponentVariable> {
    const variables = new Map<string, ComponentVariable>();
    const seen = new Set<string>();
    for (const item of listOf(raw)) {
      const name = isObject(item) ? nameOf(item['Name']) : undefined;
      if (!isObject(item) || name === undefined) {
        this.oddities.unusable_variables++;
        continue;
      }
      if (seen.has(name)) {
        this.oddities.duplicate_variables++;
        variables.delete(name);
      }
      seen.add(name);
      const variable = this.#variable(name, item);
      if (variable !== undefined) variables.set(name, variable);
    }
    this.#count(variables.size);
    return variables;
  }

  #variable(name: string, raw: JsonObject): ComponentVariable | undefined {
    const typeName = typeof raw['Type'] === 'string' ? raw['Type'] : '';
    const type = vendorType(typeName);
    if (type === UNKNOWN) this.#noteType(typeName);
    const value = type.read(raw['Value'] ?? null);
    if (value === undefined) {
      this.oddities.unusable_values++;
      return undefined;
    }
    return { name, kind: type.kind, value };
  }

  #count(variables: number): void {
    const { maxVariables } = this.#limits;
    this.variableCount += variables;
    if (this.variableCount > maxVariables)
      throw new PollFailure('too_many', `more variables than max_variables (${maxVariables})`);
  }

  #noteType(name: string): void {
    this.oddities.unknown_types++;
    if (this.unknownTypes.length < MAX_TYPES && !this.unknownTypes.includes(name))
      this.unknownTypes.push(name);
  }
}

const isObject = (raw: Json | undefined): raw is JsonObject =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw);

const isList = (raw: Json | undefined): raw is readonly Json[] => Array.isArray(raw);
const listOf = (raw: Json | undefined): readonly Json[] => (isList(raw) ? raw : []);

/** The text of `raw` if a segment accepts it as a name; otherwise undefined. */
function nameOf(raw: Json | undefined): string | undefined {
  if (typeof raw !== 'string' || raw === '') return undefined;
  const text = raw.toWellFormed();
  // A UTF-16 code unit takes at most three bytes in UTF-8, so the bytes of a short text need not be counted.
  const isShort = text.length * 3 <= LIMITS.nameBytes;
  return isShort || Buffer.byteLength(text) <= LIMITS.nameBytes ? text : undefined;
}

function kindOf(document: Json): string {
  if (document === null) return 'null';
  return typeof document === 'object' ? 'an object' : `a ${typeof document}`;
}
