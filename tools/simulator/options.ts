// The command-line options of shm_simulator.
import { BUILT_IN_APPS } from '#app/catalogue/builtin.js';
import { Fault } from '#app/errors.js';
import { readCommandLine } from '#app/rules/command-line.js';
import type { CommandLine } from '#app/rules/command-line.js';
import { defaultOption, nameOf, valueOption } from '#app/rules/command-option.js';
import type { OptionValues } from '#app/rules/command-option.js';
import { application, name, word } from '#app/rules/formats.js';
import { between, integer, text } from '#app/rules/rule.js';

const JSON_GROUP = { group: 'JSON over HTTP in place of shared memory:' };
const RARE_JSON = { ...JSON_GROUP, isRare: true };
const OTHER = { group: 'Other:' };

const base = text(/^(\/[\w.~-]+)*$/, 'a path such as /rtds, without a slash at its end');
const securityKey = text(
  /^[!-~]([ -~]*[!-~])?$/,
  'ASCII characters that a header may contain, without a blank at either end',
);

/** The options that require --json-port. */
const JSON_OPTIONS = {
  jsonBase: valueOption('--json-base <path>', base, 'Path before /sharedmem', RARE_JSON),
  securityKey: valueOption(
    '--security-key <key>',
    securityKey,
    'Key that each request must send in the header Security-Key',
    RARE_JSON,
  ),
  tlsCert: valueOption(
    '--tls-cert <file>',
    word,
    'PEM file of the certificate for HTTPS',
    RARE_JSON,
  ),
  tlsKey: valueOption(
    '--tls-key <file>',
    word,
    "PEM file of the certificate's private key",
    RARE_JSON,
  ),
};

export const OPTIONS = {
  app: defaultOption('--app <app>', 'ads', application, 'Application whose tree is simulated', {
    choices: BUILT_IN_APPS,
  }),
  serverKey: valueOption(
    '--server-key <key>',
    name,
    'Server key to publish under; required unless a scenario states it',
  ),
  root: valueOption('--root <id>', word, 'Id of the root object', {
    shownDefault: 'localhost.1.APP',
  }),
  objects: defaultOption(
    '--objects <n>',
    100,
    integer(1, 100_000),
    'Approximate number of objects',
  ),
  rate: defaultOption('--rate <hz>', 1, between(0, 1000), 'Changes per second'),
  changeFraction: defaultOption(
    '--change-fraction <f>',
    0.1,
    between(0, 1),
    'Share of the values that each change sets',
  ),
  seed: defaultOption(
    '--seed <s>',
    1,
    integer(0, 2 ** 32 - 1),
    'Seed of the random names and values',
  ),
  scenario: valueOption('--scenario <file>', word, 'Play this scenario file instead'),
  contextId: valueOption('--context-id <id>', name, 'Context id of the shared-memory pool', {
    shownDefault: 'shmApp',
  }),
  poolName: valueOption('--pool-name <name>', name, 'Name of the shared-memory pool', {
    shownDefault: 'pool',
  }),
  jsonPort: valueOption(
    '--json-port <port>',
    integer(0, 65_535),
    'Serve the tree at http://127.0.0.1:PORT/sharedmem; 0 takes a free port',
    JSON_GROUP,
  ),
  ...JSON_OPTIONS,
};

export type SimulatorOptions = OptionValues<typeof OPTIONS>;

export const PROGRAM = {
  name: 'shm_simulator',
  purpose: `Publishes simulated managed objects in shared memory, or serves them as JSON,
until a signal.`,
  options: OPTIONS,
  lastGroup: OTHER.group,
  examples: [
    [
      'Publish a tree of 200 objects under server key 82',
      'shm_simulator --app ads --server-key 82 --objects 200',
    ],
    ['Play a scenario', 'shm_simulator --scenario tree.json --server-key 82'],
    ['Serve a tree as JSON', 'shm_simulator --app adh --json-port 8080'],
  ] as const,
  statuses: {
    0: 'success, or ended by a signal',
    1: 'unexpected failure',
    2: 'wrong usage, or an invalid scenario',
    4: 'cannot listen or use shared memory',
  },
  reference: 'In the folder of the package, README.md is the place to start.',
};

/** Parses the command line. @throws Fault USAGE for unknown or conflicting options, and for invalid arguments */
export function parseOptions(
  argv: readonly string[],
  version: string,
): CommandLine<typeof OPTIONS> {
  const given = readCommandLine(PROGRAM, argv, version);
  if (given.kind === 'given') checkTogether(given.options);
  return given;
}

function checkTogether(options: SimulatorOptions): void {
  const { jsonPort, serverKey, scenario, tlsCert, tlsKey } = options;
  const values = new Map<string, unknown>(Object.entries(options));
  for (const [key, option] of Object.entries(JSON_OPTIONS))
    if (jsonPort === undefined && values.get(key) !== undefined)
      throw new Fault('USAGE', `${nameOf(option)} needs --json-port`);
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new Fault('USAGE', '--tls-cert and --tls-key must be given together');
  if (jsonPort === undefined && serverKey === undefined && scenario === undefined)
    throw new Fault('USAGE', '--server-key: found nothing, needed: --server-key <key>');
}
