// The newest samples of a quantity, for percentiles that follow the present.

const SIZE = 512;

export class SampleWindow {
  readonly #samples: number[] = [];
  #next = 0;
  #count = 0;
  #sum = 0;

  /** All samples ever, not only those in the window. */
  get count(): number {
    return this.#count;
  }

  /** The mean of all samples ever; 0 before the first. */
  get mean(): number {
    return this.#count === 0 ? 0 : this.#sum / this.#count;
  }

  add(sample: number): void {
    this.#samples[this.#next] = sample;
    this.#next = (this.#next + 1) % SIZE;
    this.#count++;
    this.#sum += sample;
  }

  /** The nearest-rank percentiles of the newest 512 samples, for `q` from 0 to 1; 0 before the first. */
  percentiles(...qs: readonly number[]): number[] {
    const sorted = Float64Array.from(this.#samples).sort();
    return qs.map((q) => sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0);
  }
}
