// The newest samples of a quantity, for percentiles of recent values.

const SIZE = 512;

/** Statistics of durations in milliseconds; percentiles cover the newest samples. */
export interface Durations {
  /** The number and sum of all samples ever added. */
  readonly count: number;
  readonly sum: number;
  /** 0 without samples. */
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export class SampleWindow {
  #samples: number[] = [];
  /** The samples in ascending order. They are kept sorted because each scrape reads percentiles. */
  #sorted: number[] = [];
  #next = 0;
  #count = 0;
  #sum = 0;

  /** The sum of all samples ever added. */
  get sum(): number {
    return this.#sum;
  }

  get durations(): Durations {
    const [count, sum] = [this.#count, this.#sum];
    const [p50 = 0, p95 = 0, p99 = 0] = this.percentiles(0.5, 0.95, 0.99);
    return { count, sum, mean: count === 0 ? 0 : sum / count, p50, p95, p99 };
  }

  add(sample: number): void {
    const oldest = this.#samples[this.#next];
    if (oldest !== undefined) this.#sorted.splice(this.#placeOf(oldest), 1);
    this.#sorted.splice(this.#placeOf(sample), 0, sample);
    this.#samples[this.#next] = sample;
    this.#next = (this.#next + 1) % SIZE;
    this.#count++;
    this.#sum += sample;
  }

  /** The nearest-rank percentiles of the newest 512 samples, for `q` from 0 to 1; 0 before the first. */
  percentiles(...qs: readonly number[]): number[] {
    const { length } = this.#sorted;
    return qs.map((q) => this.#sorted[Math.max(0, Math.ceil(q * length) - 1)] ?? 0);
  }

  /** The index of the first sorted sample that is not smaller than `sample`. */
  #placeOf(sample: number): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle] ?? 0) < sample) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
