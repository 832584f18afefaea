// The commands of shm_license, their options and help texts.
import { defaultOption, requiredOption, valueOption } from '../rules/command-option.js';
import { LICENSE_KEYS_DIR, line, word } from '../rules/formats.js';
import { days, utcTime } from './license-document.js';

const STATUSES = {
  0: 'success',
  1: 'unexpected failure',
  2: 'wrong usage, or a file or key that cannot be used',
  3: 'license refused',
  6: 'license not valid yet',
};
const REFERENCE = `In the folder of the package, docs/license.md says who issues permanent
licenses, and how to sign licenses with a key of your own.`;
const COMMON = { statuses: STATUSES, reference: REFERENCE };

const KEYS = {
  keysDir: defaultOption(
    '--keys-dir <dir>',
    LICENSE_KEYS_DIR,
    line,
    'Folder of more public keys; it need not exist',
  ),
};

export const ISSUE = {
  name: 'shm_license issue',
  purpose: 'Writes a signed license.',
  options: {
    licensee: requiredOption('--licensee <name>', line, 'Name of the licensee'),
    out: requiredOption(
      '--out <file>',
      word,
      'File for the license; an older license in it is replaced',
    ),
    days: valueOption('--days <n>', days, 'Number of days until the license expires'),
    issuedAt: valueOption('--issued-at <time>', utcTime, 'Time at which the license begins', {
      shownDefault: 'now',
    }),
    expiresAt: valueOption(
      '--expires-at <time>',
      utcTime,
      'Time at which the license expires; overrides --days; one of the two is required',
    ),
    key: valueOption('--key <file>', word, 'Private key <key id>.key.pem', {
      shownDefault: 'the evaluation key, for at most 31 days',
    }),
  },
  examples: [
    [
      'Write an evaluation license of 30 days',
      'shm_license issue --licensee "My company" --days 30 --out license.json',
    ],
    [
      'Write a license with a key of your own',
      'shm_license issue --licensee ACME --days 365 --key acme.key.pem --out l.json',
    ],
  ] as const,
  ...COMMON,
};

export const SHOW = {
  name: 'shm_license show',
  purpose: 'Prints a license, and whether the exporter would start with it.',
  options: KEYS,
  operand: 'file',
  examples: [['Print a license', 'shm_license show license.json']] as const,
  ...COMMON,
};

export const VERIFY = {
  name: 'shm_license verify',
  purpose: 'Exits with 0 if the exporter would start with the license now, else with 3 or 6.',
  options: KEYS,
  operand: 'file',
  examples: [['Check a license', 'shm_license verify license.json']] as const,
  ...COMMON,
};

export const KEYGEN = {
  name: 'shm_license keygen',
  purpose: 'Makes a key pair: <name>.key.pem is the private key, <name>.pub.pem the public key.',
  options: {
    outDir: requiredOption('--out-dir <dir>', word, 'Folder for both files; overwrites nothing'),
    name: defaultOption('--name <name>', 'vendor', word, 'Key id'),
  },
  examples: [['Make a key pair', 'shm_license keygen --out-dir keys --name acme-2026']] as const,
  ...COMMON,
};

export const COMMANDS = { issue: ISSUE, show: SHOW, verify: VERIFY, keygen: KEYGEN };

export const PROGRAM = {
  name: 'shm_license',
  purpose: 'Issues, shows and verifies the licenses of shm_exporter.',
  usage: 'COMMAND [options]',
  options: {},
  remarks: `Commands:
  issue   writes a signed license
  show    prints a license and its state
  verify  exits with 0 if the exporter would start with the license now
  keygen  makes a key pair that signs licenses

shm_license COMMAND --help prints the options of a command.`,
  examples: [...ISSUE.examples.slice(0, 1), ...VERIFY.examples],
  ...COMMON,
};
