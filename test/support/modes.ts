// Defines a suite once for each of the two execution modes of partitions.

export const MODES = ['logical', 'threaded'] as const;
export type Mode = (typeof MODES)[number];

/**
 * The mode of tests that need only one: pages pass from the thread of a partition to the listener, so more code
 * takes part. `test/targets/partitions/partition.contract.test.ts` shows that both modes do the same.
 */
export const SPECIFIED_MODE: Mode = 'threaded';

/** The same suite over each `worker_execution_mode`, which it is given. */
export function inBothModes(title: string, suite: (this: Mocha.Suite, mode: Mode) => void): void {
  for (const mode of MODES)
    describe(`${title}, ${mode}`, function () {
      suite.call(this, mode);
    });
}
