// A histogram of durations, as an internal metric shows it.
import type { InternalMetric } from '../model.js';

/** The upper bounds of the buckets in seconds, without +Inf. */
export const BOUNDS_SECONDS: readonly number[] = [0.001, 0.01, 0.1, 1, 10];

export class DurationHistogram {
  /** For each bound, the number of durations that are not longer. */
  readonly #upTo = BOUNDS_SECONDS.map(() => 0);
  #count = 0;
  #sumSeconds = 0;

  add(ms: number): void {
    const seconds = ms / 1000;
    this.#count++;
    this.#sumSeconds += seconds;
    BOUNDS_SECONDS.forEach((bound, index) => {
      if (seconds <= bound) this.#upTo[index] = (this.#upTo[index] ?? 0) + 1;
    });
  }

  /** The series of the metric: its buckets, sum and count. */
  series({ name, help }: Pick<InternalMetric, 'name' | 'help'>): InternalMetric[] {
    const series = (
      suffix: string,
      value: number,
      labels: InternalMetric['labels'] = {},
    ): InternalMetric => ({ name, type: 'histogram', help, suffix, labels, value });
    const buckets = BOUNDS_SECONDS.map((bound, index) =>
      series('_bucket', this.#upTo[index] ?? 0, { le: String(bound) }),
    );
    return [
      ...buckets,
      series('_bucket', this.#count, { le: '+Inf' }),
      series('_sum', this.#sumSeconds),
      series('_count', this.#count),
    ];
  }
}
