// The command-line options of the demo.
import { defaultOption, flagOption } from '#app/rules/command-option.js';
import type { OptionValues } from '#app/rules/command-option.js';
import { integer } from '#app/rules/rule.js';

export const OPTIONS = {
  isStdout: flagOption('--stdout', 'Print snapshots instead of serving them'),
  port: defaultOption(
    '--port <port>',
    9464,
    integer(1, 65_535),
    'Port of the exporter at 127.0.0.1',
  ),
};

export type DemoOptions = OptionValues<typeof OPTIONS>;

export const PROGRAM = {
  name: 'demo',
  purpose: `Starts four simulated servers, a bridge to one of them, and the exporter, and
prints addresses to try. Ctrl-C ends all of them and leaves nothing behind.`,
  usage: '[options], or: npm run demo -- [options]',
  options: OPTIONS,
  examples: [
    ['Serve metrics at http://127.0.0.1:9464/metrics', 'npm run demo'],
    ['Use another port', 'npm run demo -- --port 9500'],
    ['Print snapshots', 'npm run demo -- --stdout'],
  ] as const,
  statuses: {
    0: 'normal end',
    1: 'unexpected failure, or not ready in time',
    2: 'wrong usage',
    4: 'cannot listen or use shared memory',
  },
  reference: 'In the folder of the package, README.md says what to try.',
};
