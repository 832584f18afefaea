// The workload: N series in 50 families, with three labels of realistic length, and the changes of their values.

export const FAMILIES = 50;

/** Three labels for each entity; a line has about 120 bytes. */
export const entityLabels = (entity) => ({
  host: `md-host-${String(entity % 40).padStart(4, '0')}.example.net`,
  client: `client-${String(entity).padStart(6, '0')}`,
  service: `SERVICE_${String(entity % 25).padStart(3, '0')}`,
});

/** 60 % integer counters, 20 % gauges with 3 decimals, 20 % gauges with all 53 bits of a double. */
export const kindOf = (family) =>
  family % 5 < 3 ? 'counter' : family % 5 === 3 ? 'decimal' : 'float';

export const nameOf = (family) =>
  `bench_family_${String(family).padStart(2, '0')}_${kindOf(family) === 'counter' ? 'total' : 'value'}`;

/** A seeded random generator: the same sequence in every process. */
export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The values of all series, family by family. */
export class Values {
  constructor(series) {
    this.entities = Math.floor(series / FAMILIES);
    this.random = generator(1);
    this.all = new Float64Array(this.entities * FAMILIES);
    for (let i = 0; i < this.all.length; i++) this.all[i] = this.next(i);
  }

  next(index) {
    const kind = kindOf(Math.floor(index / this.entities));
    if (kind === 'counter') return this.all[index] + 1 + Math.floor(this.random() * 100_000);
    return kind === 'decimal' ? Math.round(this.random() * 1e6) / 1000 : this.random() * 1000;
  }

  /** Changes a random share of the values; calls `changed` for each of them. */
  change(share, changed) {
    for (let i = 0; i < this.all.length; i++) {
      if (share < 1 && this.random() >= share) continue;
      this.all[i] = this.next(i);
      changed(i, this.all[i]);
    }
  }
}
