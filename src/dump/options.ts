// The options of shm_dump.
import {
  defaultOption,
  flagOption,
  openOption,
  requiredOption,
  valueOption,
} from '../rules/command-option.js';
import type { OptionValues } from '../rules/command-option.js';
import { line, name, word } from '../rules/formats.js';
import { between } from '../rules/rule.js';

const SEGMENT = { group: 'Segment:' };
const PART = { group: 'Part of the tree:' };
const OUTPUT = { group: 'Output:' };
const OTHER = { group: 'Other:' };

/** The default refresh interval in seconds. */
export const WATCH_SECONDS = 2;

export const OPTIONS = {
  serverKey: requiredOption('--server-key <key>', name, 'Server key of the publisher', SEGMENT),
  contextId: defaultOption(
    '--context-id <id>',
    'shmApp',
    name,
    'Context id of the shared-memory pool',
    SEGMENT,
  ),
  poolName: defaultOption(
    '--pool-name <name>',
    'pool',
    name,
    'Name of the shared-memory pool',
    SEGMENT,
  ),
  object: valueOption(
    '--object <id>',
    word,
    'Only this object and the objects below it: its id, or its path below the root',
    PART,
  ),
  search: defaultOption(
    '--search <words>',
    '',
    line,
    'Only items with all of these words in their id, class, name or value',
    { ...PART, shownDefault: '' },
  ),
  json: flagOption('--json', 'Print JSON lines, with whole values', OUTPUT),
  watch: openOption(
    '--watch [seconds]',
    between(0.1, 3600),
    `Repeat every ${WATCH_SECONDS} seconds, or at this period: on a terminal as a live view, otherwise as one dump after another`,
    OUTPUT,
  ),
  catalogue: flagOption('--catalogue', 'Print a draft of a catalogue for the segment', {
    ...OUTPUT,
    conflicts: ['--json', '--watch'],
  }),
};

export type DumpOptions = OptionValues<typeof OPTIONS>;

export const PROGRAM = {
  name: 'shm_dump',
  purpose: `Shows every object, variable and value that a publisher has in shared memory. It only reads, and needs no license.`,
  options: OPTIONS,
  lastGroup: OTHER.group,
  examples: [
    ['Show the segment of server key 82', 'shm_dump --server-key 82'],
    ['Find objects and variables by a word', 'shm_dump --server-key 82 --search bytes'],
    ['Watch an object and the objects below it', 'shm_dump --server-key 82 --watch --object sink'],
    ['Draft a catalogue', 'shm_dump --server-key 82 --catalogue > shop.toml'],
  ] as const,
  statuses: {
    0: 'success (the publisher may have ended), or ended by a signal',
    1: 'unexpected failure',
    2: 'wrong usage, or an object that does not exist',
    4: 'the segment is missing or cannot be read, or the dump cannot be written',
  },
  reference: 'In the folder of the package, docs/shm_dump.md explains more.',
};
