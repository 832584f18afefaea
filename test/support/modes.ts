// Defines a suite once for each of the two execution modes of partitions.

export const MODES = ['logical', 'threaded'] as const;
export type Mode = (typeof MODES)[number];

/**
 * The mode of tests that need only one. It runs more code than the other: pages pass from the thread of a partition
 * to the listener. `test/targets/partitions/partition.contract.test.ts` shows that both modes behave alike.
 */
export const SPECIFIED_MODE: Mode = 'threaded';

/** Defines the suite for each `worker_execution_mode`. */
export function inBothModes(title: string, suite: (this: Mocha.Suite, mode: Mode) => void): void {
  for (const mode of MODES)
    describe(`${title} (${mode} mode)`, function () {
      suite.call(this, mode);
    });
}
