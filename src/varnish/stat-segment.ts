// A segment of values in the tree: an object with a variable for each value.
import { Fault } from '../errors.js';
import type { PolledObject, PolledSource, SlotOwner } from '../foreign/polled-source.js';
import type { Variable } from '../model.js';
import type { Naming } from './names/compat-names.js';
import type { Schema, SchemaField } from './schema.js';
import type { SegmentDirectory, VarnishSegmentHeader } from './segment-directory.js';
import { headerOf } from './segment-directory.js';
import { HEADER, LIMITS, READY, VALUE_BYTES } from './segment-index.js';
import type { IndexEntry } from './segment-index.js';

/** A gauge beyond this went below zero for a moment: Varnish's own programs show 0. */
const MAX_OF_A_GAUGE = 2n ** 63n;

export class SegmentValues {
  readonly #directory: SegmentDirectory;
  readonly #entry: IndexEntry;
  readonly #header: VarnishSegmentHeader;
  readonly #bytes: Buffer;
  readonly #words: BigUint64Array;

  /**
   * @param header as it was when the segment was taken in
   * @throws Fault SEGMENT_CORRUPT for a segment that cannot hold the values of its schema
   */
  constructor(
    directory: SegmentDirectory,
    entry: IndexEntry,
    header: VarnishSegmentHeader,
    { bodyBytes }: Schema,
  ) {
    const { bodyOffset } = header;
    const bytes = bodyOffset + bodyBytes;
    if (bodyOffset < HEADER.bytes || bodyOffset % VALUE_BYTES !== 0 || !(bytes <= entry.length))
      throw new Fault('SEGMENT_CORRUPT', 'has no room for the values of its schema');
    if (bytes > LIMITS.bodyBytes) throw new Fault('SEGMENT_CORRUPT', `has ${bytes} bytes`);
    this.#directory = directory;
    this.#entry = entry;
    this.#header = header;
    this.#bytes = Buffer.from(new ArrayBuffer(bytes));
    this.#words = new BigUint64Array(this.#bytes.buffer);
  }

  /**
   * Copies the values; false if the segment is not what was taken in any more. Its place in a file may
   * have got another owner, so the index is asked after the copy: never throws.
   */
  copy(): boolean {
    try {
      if (!this.#directory.read(this.#entry, this.#bytes)) return false;
    } catch {
      return false;
    }
    const { ready, bodyOffset, schemaId } = headerOf(this.#bytes);
    return (
      ready === READY.visible &&
      bodyOffset === this.#header.bodyOffset &&
      schemaId === this.#header.schemaId &&
      this.#directory.has(this.#entry)
    );
  }

  /** A value of the last copy. */
  valueOf({ kind, at }: SchemaField): bigint {
    const value = this.#words[(this.#header.bodyOffset + at) / VALUE_BYTES] ?? 0n;
    return kind === 'gauge' && value > MAX_OF_A_GAUGE ? 0n : value;
  }
}

interface ShownValue {
  readonly field: SchemaField;
  readonly variable: Variable;
}

interface StatSegmentParts {
  readonly source: PolledSource;
  readonly root: PolledObject;
  readonly naming: Naming;
  readonly ident: string;
  readonly schema: Schema;
  readonly values: SegmentValues;
}

/** The class of backends, and the value with the results of their probes. */
const BACKEND = 'vbe';
const PROBES = 'happy';

export class StatSegment implements SlotOwner {
  readonly #parts: StatSegmentParts;
  readonly #object: PolledObject;
  readonly #shown: readonly ShownValue[];
  /** Whether the last probe was good; added when one was for the first time. */
  #up: Variable | undefined;
  #wasHappy = false;
  #isLost = false;

  /** Adds the segment below the root, if its values can be copied now. */
  constructor(parts: StatSegmentParts) {
    this.#parts = parts;
    const { source, root, naming, ident, schema } = parts;
    const name = `${root.name}.${ident.replace(/[\p{Cc}\p{Cf}]/gu, '_')}`;
    this.#object = source.addObject(this, { name, className: schema.name }, root);
    this.#shown = schema.fields.map((field) => {
      const { kind, metric } = naming.named({ ident, className: schema.name, field });
      const { name, unit, help } = field;
      const declaration = { name, type: 'u64', kind, unit, help, schema: [], metric } as const;
      return { field, variable: source.addVariable(this, this.#object, declaration) };
    });
    this.refresh();
    this.grow();
  }

  /** Whether the segment is another one by now: its values are shown no more. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Adds what its values made known. A backend without a probe has no results either: all are 0. */
  grow(): void {
    if (!this.#wasHappy || this.#up !== undefined || this.#isLost) return;
    const { source, naming, ident } = this.#parts;
    if (!source.hasRoom()) return;
    const metric = naming.own.backendUp(ident);
    const { help } = metric;
    const declaration = {
      name: 'up',
      type: 'u64',
      kind: 'gauge',
      unit: '',
      help,
      schema: [],
    } as const;
    this.#up = source.addVariable(this, this.#object, { ...declaration, metric });
    this.refresh();
  }

  refresh(): void {
    if (this.#isLost) return;
    this.#isLost = !this.#parts.values.copy();
    const { values, source, schema } = this.#parts;
    const { slots } = source;
    for (const { field, variable } of this.#shown) {
      const value = values.valueOf(field);
      slots.set(variable.slot, value);
      slots.setSynced(variable.slot, !this.#isLost);
      if (schema.name === BACKEND && field.name === PROBES) this.#probed(value);
    }
  }

  /** Takes it out of the tree. */
  leave(): void {
    this.#parts.source.remove(this, this.#object);
  }

  /** The lowest bit is the last probe. */
  #probed(results: bigint): void {
    if (this.#isLost) {
      if (this.#up !== undefined) this.#parts.source.slots.setSynced(this.#up.slot, false);
      return;
    }
    this.#wasHappy ||= results !== 0n;
    if (this.#up === undefined) return;
    const { slots } = this.#parts.source;
    slots.set(this.#up.slot, results & 1n);
    slots.setSynced(this.#up.slot, true);
  }
}
