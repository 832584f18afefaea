// Segments with values: reads the values, and shows a segment as an object with a variable for each value.
import { Fault } from '../errors.js';
import { gauge } from '../foreign/polled-source.js';
import type { PolledObject, PolledSource, SlotWriter } from '../foreign/polled-source.js';
import type { Variable } from '../model.js';
import type { Naming } from './names/compat-names.js';
import type { Schema, SchemaField } from './schema.js';
import type { SegmentDirectory, VarnishSegmentHeader } from './segment-directory.js';
import { headerOf } from './segment-directory.js';
import { HEADER, LIMITS, READY, VALUE_BYTES } from './segment-index.js';
import type { IndexEntry } from './segment-index.js';

/** The largest value of a gauge. A larger value is a wrapped negative number; it is shown as 0, as in varnishstat. */
const MAX_OF_A_GAUGE = 2n ** 63n;

/** Copies the values of one segment. */
export class SegmentValues {
  readonly #directory: SegmentDirectory;
  readonly #entry: IndexEntry;
  readonly #header: VarnishSegmentHeader;
  readonly #bytes: Buffer;
  readonly #words: BigUint64Array;

  /**
   * @param header the segment's header when the segment was added to the tree
   * @throws Fault SEGMENT_CORRUPT for a segment that is too small for the values of its schema
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
    if (bytes > LIMITS.bodyBytes)
      throw new Fault(
        'SEGMENT_CORRUPT',
        `has ${bytes} bytes, allowed: at most ${LIMITS.bodyBytes}`,
      );
    this.#directory = directory;
    this.#entry = entry;
    this.#header = header;
    this.#bytes = Buffer.from(new ArrayBuffer(bytes));
    this.#words = new BigUint64Array(this.#bytes.buffer);
  }

  /**
   * Copies the values; false if Varnish replaced the segment. Never throws. Checks the index after the copy, since
   * Varnish may have reused the location for another segment.
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

interface StatSegmentOptions {
  readonly source: PolledSource;
  readonly root: PolledObject;
  readonly naming: Naming;
  readonly ident: string;
  readonly schema: Schema;
  readonly values: SegmentValues;
  /** When the process of the segment started, in Unix milliseconds. */
  readonly startedUnixMs: number | undefined;
}

/** The class of backends, and the name of the value that holds a backend's probe results as a bitmap. */
const BACKEND = 'vbe';
const PROBES = 'happy';

/** A segment with values, as an object in the tree. */
export class StatSegment implements SlotWriter {
  readonly #options: StatSegmentOptions;
  readonly #object: PolledObject;
  readonly #shown: readonly ShownValue[];
  /** The variable with the result of the last probe; undefined until the first good probe. */
  #up: Variable | undefined;
  #wasHappy = false;
  #isLost = false;

  constructor(options: StatSegmentOptions) {
    this.#options = options;
    const { source, root, naming, ident, schema, startedUnixMs } = options;
    const name = `${root.name}.${ident.replace(/[\p{Cc}\p{Cf}]/gu, '_')}`;
    this.#object = source.addObject(this, { name, className: schema.name, startedUnixMs }, root);
    this.#shown = schema.fields.map((field) => {
      const { kind, metric } = naming.named({ ident, className: schema.name, field });
      const { name, unit, help } = field;
      const declaration = { name, type: 'u64', kind, unit, help, schema: [], metric } as const;
      return { field, variable: source.addVariable(this, this.#object, declaration) };
    });
    this.writeSlots();
    this.addProbeResult();
  }

  /** Whether Varnish replaced the segment, so that its values are no longer valid. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Adds the probe result of a backend after its first good probe. A backend without probes has a bitmap of 0 forever. */
  addProbeResult(): void {
    if (!this.#wasHappy || this.#up !== undefined || this.#isLost) return;
    const { source, naming, ident } = this.#options;
    if (!source.hasRoom()) return;
    const metric = naming.own.backendUp(ident);
    this.#up = source.addVariable(this, this.#object, gauge('up', 'u64', '', metric));
    this.writeSlots();
  }

  writeSlots(): void {
    if (this.#isLost) return;
    this.#isLost = !this.#options.values.copy();
    const { values, source, schema } = this.#options;
    const { slots } = source;
    for (const { field, variable } of this.#shown) {
      const value = values.valueOf(field);
      slots.set(variable.slot, value);
      slots.setSynced(variable.slot, !this.#isLost);
      if (schema.name === BACKEND && field.name === PROBES) this.#setProbeResult(value);
    }
  }

  remove(): void {
    this.#options.source.remove(this, this.#object);
  }

  /** Sets the variable of the last probe. @param results the probe bitmap; its lowest bit is the last probe */
  #setProbeResult(results: bigint): void {
    if (this.#isLost) {
      if (this.#up !== undefined) this.#options.source.slots.setSynced(this.#up.slot, false);
      return;
    }
    this.#wasHappy ||= results !== 0n;
    if (this.#up === undefined) return;
    const { slots } = this.#options.source;
    slots.setFirst(this.#up.slot, results & 1n);
  }
}
