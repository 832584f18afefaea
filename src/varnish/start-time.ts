// When a process of Varnish began, as an object of its own: it goes with the process.
import type { GatheredObject, GatheredSource } from '../foreign/gathered-source.js';
import type { Owner } from '../foreign/slots.js';
import type { StatedMetric } from '../model.js';

export class StartTime implements Owner {
  readonly #source: GatheredSource;
  readonly #object: GatheredObject;

  /** @param unixSeconds when it began */
  constructor(
    source: GatheredSource,
    root: GatheredObject,
    { name, metric }: { readonly name: string; readonly metric: StatedMetric },
    unixSeconds: number,
  ) {
    this.#source = source;
    const facts = { name: `${root.name}.${name}`, className: 'process' };
    this.#object = source.addObject(this, facts, root);
    const { help } = metric;
    const declared = { name: 'started', type: 'u64', kind: 'gauge', unit: 'seconds' } as const;
    const declaration = { ...declared, help, schema: [], metric };
    const { slot } = source.addVariable(this, this.#object, declaration);
    source.slots.set(slot, BigInt(unixSeconds));
    source.slots.setSynced(slot, true);
  }

  refresh(): void {
    // It never changes.
  }

  leave(): void {
    this.#source.remove(this, this.#object);
  }
}
