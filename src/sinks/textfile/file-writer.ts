// Writes documents to a file. Each document replaces the file atomically.
import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { getSystemErrorMap } from 'node:util';
import { Observable } from 'rxjs';
import { messageOf } from '../../errors.js';
import { NotWritten } from '../../stdio/print.js';
import type { DocumentWriter } from '../stdout/stdout.js';

/**
 * The mode of the file regardless of the umask. The collector runs as another user, so all users can read the file.
 */
const MODE = 0o644;

/** Makes a writer that replaces the file with each document. If it errors with `NotWritten`, the file is unchanged. */
export const fileWriter =
  (path: string): DocumentWriter =>
  ({ buffers, release }) =>
    new Observable((subscriber) => {
      const aborted = new AbortController();
      replaced(path, buffers, aborted.signal)
        .finally(release)
        .then(
          (bytes) => {
            subscriber.next(bytes);
            subscriber.complete();
          },
          (error: unknown) => subscriber.error(error),
        );
      return () => aborted.abort();
    });

/** Writes the buffers to a temporary file and renames it. Returns the number of bytes. */
async function replaced(
  path: string,
  buffers: Iterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const draft = `${path}.${randomUUID()}.tmp`;
  let bytes = 0;
  const counted = function* () {
    for (const buffer of buffers) {
      bytes += buffer.length;
      yield buffer;
    }
  };
  try {
    const file = await open(draft, 'wx');
    try {
      await file.chmod(MODE);
      await pipeline(Readable.from(counted()), file.createWriteStream(), { signal });
    } finally {
      await file.close();
    }
    await rename(draft, path);
    // `removedAtEnd` may have removed the file before this rename: remove it again.
    if (signal.aborted) await rm(path, { force: true });
    return bytes;
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new NotWritten(`cannot write ${path}: ${reasonOf(error)}`);
  }
}

/** The reason of a system error, without the name of the temporary file, which differs each time. */
function reasonOf(error: unknown): string {
  const number = (error as NodeJS.ErrnoException).errno ?? 0;
  const [code, words] = getSystemErrorMap().get(number) ?? [];
  return code === undefined ? messageOf(error) : `${code}: ${words}`;
}

/** Removes the file when the subscription ends, so that no collector reads outdated values. */
export const removedAtEnd = (path: string): Observable<never> =>
  new Observable(() => () => {
    rm(path, { force: true }).catch(() => undefined);
  });
