// A segment of values in the tree: an object with a variable for each value.
import type { GatheredObject, GatheredSource } from '../foreign/gathered-source.js';
import type { Owner } from '../foreign/slots.js';
import type { Variable } from '../model.js';
import type { Naming } from './names/naming.js';
import type { Field, Schema } from './schema.js';
import type { SegmentValues } from './segment-values.js';

interface Shown {
  readonly field: Field;
  readonly variable: Variable;
}

export interface StatSegmentParts {
  readonly source: GatheredSource;
  readonly root: GatheredObject;
  readonly naming: Naming;
  readonly ident: string;
  readonly schema: Schema;
  readonly values: SegmentValues;
}

/** The class of backends, and the value with the results of their probes. */
const BACKEND = 'vbe';
const PROBES = 'happy';

export class StatSegment implements Owner {
  readonly #parts: StatSegmentParts;
  readonly #object: GatheredObject;
  readonly #shown: readonly Shown[];
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
