// A published sample tree, and outputs of shm_dump.
import { Fault } from '#app/errors.js';
import { PROGRAM } from '#app/dump/options.js';
import { documentOf } from '#app/dump/output/dump-document.js';
import { FollowedSegment } from '#app/dump/segment/followed-segment.js';
import { posixMemory } from '#app/native/os/posix.js';
import { segmentName } from '#app/native/segment/layout.js';
import { readCommandLine } from '#app/rules/command-line.js';
import { searchWords } from '#app/shown/shown-text.js';
import { testPrograms } from '../support/processes.js';
import type { TestPrograms } from '../support/processes.js';

/** A scenario with every kind of value, and with names that need quoting. */
export const SHOP = {
  server_key: '7',
  objects: [
    {
      id: 'h.1.shop',
      class: 'Shop',
      variables: { version: { type: 'string', value: '1.0' } },
    },
    {
      id: 'h.1.shop.floor.a',
      parent: 'h.1.shop',
      class: 'Floor',
      state: 'dead',
      variables: {
        sold: { type: 'u64', kind: 'counter', unit: 'pieces', help: 'Sales.', value: 42 },
        large: { type: 'u64', value: '18446744073709551615' },
        low: { type: 'i64', value: -3 },
        warm: { type: 'f64', kind: 'gauge', value: 21.5 },
        open: { type: 'bool', value: true },
        late: { type: 'u64' },
        wait: { type: 'histogram', value: { bounds: [0.1, 1], counts: [3, 0, 1], sum: 2.5 } },
        size: { type: 'summary', value: { quantiles: { 0.5: 2 }, count: 9, sum: 18 } },
      },
    },
    {
      id: 'h.1.shop.floor.b',
      parent: 'h.1.shop',
      class: 'Floor',
      variables: {
        'turn \u202e\u001b[31m': { type: 'string', value: 'a\u001b]0;x\u0007\u009b2Jb\u2066' },
        long: { type: 'string', value: 'x'.repeat(300) },
      },
    },
  ],
};

export interface DumpOutput {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs shm_dump inside this process and returns what it prints. */
export function dumpOf(...argv: readonly string[]): DumpOutput {
  try {
    return { status: 0, stdout: textOf(argv), stderr: '' };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { status: error.exit, stdout: '', stderr: `shm_dump: ${error.message}\n` };
  }
}

function textOf(argv: readonly string[]): string {
  const line = readCommandLine(PROGRAM, argv, '');
  if (line.kind === 'text') return line.text;
  const { serverKey, contextId, poolName, object, search } = line.options;
  const segment = new FollowedSegment(posixMemory(), segmentName(contextId, poolName, serverKey));
  try {
    const choice = { object, words: searchWords(search) };
    const document = documentOf(segment, choice, line.options, Date.now());
    return Buffer.concat([...document.buffers]).toString();
  } finally {
    segment.close();
  }
}

export interface Dump {
  readonly programs: TestPrograms;
  /** Runs shm_dump inside this process with the context of the suite, and returns its output. */
  readonly dump: typeof dumpOf;
  /** Starts shm_dump as a process with the context of the suite. */
  readonly run: (...args: readonly string[]) => DumpOutput;
}

/** Call inside `describe`. */
export function dumps(): Dump {
  const programs = testPrograms();
  const context = ['--context-id', programs.contextId];
  return {
    programs,
    dump: (...args) => dumpOf(...context, ...args),
    run: (...args) => programs.run('dump', ...context, ...args),
  };
}
