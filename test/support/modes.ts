// Defines a suite once for each of the two execution modes of partitions.

export const MODES = ['logical', 'threaded'] as const;
export type Mode = (typeof MODES)[number];

/**
 * The mode for tests that need only one. Threaded mode runs more code, because pages pass from a partition's
 * thread to the listener. `test/targets/partitions/partition.contract.test.ts` shows that both modes behave
 * alike.
 */
export const SPECIFIED_MODE: Mode = 'threaded';

/** Defines the suite for each `worker_execution_mode`. */
export function inBothModes(title: string, suite: (this: Mocha.Suite, mode: Mode) => void): void {
  for (const mode of MODES)
    describe(`${title} (${mode} mode)`, function () {
      suite.call(this, mode);
    });
}
