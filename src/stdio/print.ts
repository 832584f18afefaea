// Writes to stdout and stderr in programs that do nothing else meanwhile: a write blocks until the reader takes it,
// and any signal ends the program.
import { writeSync } from 'node:fs';
import { systemReason } from '../document/text-file.js';
import { Fault, codeOf, isSystemError, messageOf } from '../errors.js';

const [STDOUT, STDERR] = [1, 2];
/**
 * The pause before the next attempt, when the reader is slow and another program has made the descriptor
 * non-blocking.
 */
export const RETRY_MS = 20;

/** The error of a failed write to stdout. A later write may succeed. */
export class NotWritten extends Error {
  override readonly name = 'NotWritten';
}

/** The error of a write to stdout after its reader closed the pipe. */
export class BrokenPipe extends Error {
  override readonly name = 'BrokenPipe';

  constructor() {
    super('stdout cannot be written: its reader has closed it');
  }
}

/** The errors of a pipe or socket without a reader. */
const NO_READER = new Set(['EPIPE', 'ECONNRESET', 'ENOTCONN']);

/** Returns `NotWritten` or `BrokenPipe` for a system error of a write to stdout, and any other error as it is. */
export function notWritten(error: unknown): unknown {
  if (!isSystemError(error)) return error;
  if (NO_READER.has(codeOf(error))) return new BrokenPipe();
  return new NotWritten(`stdout cannot be written: ${systemReason(error)}`, { cause: error });
}

/** Writes a text or bytes to stdout. @throws NotWritten, BrokenPipe */
export function print(text: string | Uint8Array): void {
  try {
    writeWhole(STDOUT, text);
  } catch (error) {
    throw notWritten(error);
  }
}

/** Writes a text or bytes to stderr; ignores failures, since stderr is the only place to report them. */
export function complain(text: string | Uint8Array): void {
  try {
    writeWhole(STDERR, text);
  } catch {
    // Ignore the failure: it cannot be reported anywhere.
  }
}

/** The sentence that explains the end of a program. */
export function explanationOf(error: unknown): string {
  // These errors have a known cause. Any other error is a bug, so show its stack.
  const isExplained =
    [Fault, NotWritten, BrokenPipe].some((kind) => error instanceof kind) ||
    !(error instanceof Error) ||
    isSystemError(error);
  return isExplained ? messageOf(error) : (error.stack ?? '');
}

export const statusOf = (error: unknown): number => (error instanceof Fault ? error.exit : 1);

/** Ends a program after an error, and prints `explanation`. */
export function fail(
  program: NodeJS.Process,
  name: string,
  error: unknown,
  explanation = messageOf(error),
): never {
  // A reader may close the pipe early, as head does.
  if (error instanceof BrokenPipe) program.exit(0);
  complain(`${name}: ${explanation}\n`);
  program.exit(statusOf(error));
}

function writeWhole(fd: number, text: string | Uint8Array): void {
  for (let rest = typeof text === 'string' ? Buffer.from(text) : text; rest.length > 0;)
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
}
