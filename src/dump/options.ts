// The options of shm_dump.
import {
  defaultOption,
  flagOption,
  openOption,
  optionalOption,
  requiredOption,
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
  object: optionalOption(
    '--object <id>',
    word,
    'Only this object and what is below it: its id, or its path below the root',
    PART,
  ),
  search: defaultOption(
    '--search <words>',
    '',
    line,
    'Only what has all of these words in its id, class, name or value',
    { ...PART, shownDefault: '' },
  ),
  json: flagOption('--json', 'Print JSON lines, with whole values', OUTPUT),
  watch: openOption(
    '--watch [seconds]',
    between(0.1, 3600),
    `Show it again and again, every ${WATCH_SECONDS} seconds or as said: on a terminal as a live view, else one after the other`,
    OUTPUT,
  ),
  catalogue: flagOption('--catalogue', 'Print a draft of a catalogue file for what is there', {
    ...OUTPUT,
    conflicts: ['--json', '--watch'],
  }),
};

export type DumpOptions = OptionValues<typeof OPTIONS>;

export const PROGRAM = {
  name: 'shm_dump',
  purpose: `Shows what a publisher has in shared memory: every object and variable, and
its value. It only reads, and needs no license.`,
  options: OPTIONS,
  lastGroup: OTHER.group,
  examples: [
    ['Show what is published under server key 82', 'shm_dump --server-key 82'],
    ['Show the objects and variables that have a word', 'shm_dump --server-key 82 --search bytes'],
    ['Watch an object and what is below it', 'shm_dump --server-key 82 --watch --object sink'],
    ['Draft a catalogue', 'shm_dump --server-key 82 --catalogue > shop.toml'],
  ] as const,
  statuses: {
    0: 'shown, also if the publisher is gone; or ended by a signal',
    1: 'unexpected failure',
    2: 'wrong usage, or no such object',
    4: 'segment is not there or cannot be read, or the dump cannot be written',
  },
  reference: 'In the folder of the package, docs/shm_dump.md has the rest.',
};
