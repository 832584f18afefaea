// The counter file of a JVM that ran once, for a host on which none runs.
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { map } from '#app/native/os/libc.js';

/** An OpenJDK 17 whose heap was collected some times; what was personal in its texts is erased. */
const RECORDING = new URL('recorded.hsperfdata.gz', import.meta.url);
/** The bytes of a file as a JVM makes it; the recording has those in use. */
const FILE_BYTES = 32_768;
/** Where the recording has `sun.rt.createVmBeginTime`, Unix milliseconds. */
const BEGAN_AT = 472;

/**
 * Puts the file below a folder, as of a JVM that is this process and begins now: it stays in the memory of
 * this process, as a JVM has its file.
 * @param pid of this process
 * @returns the directory that it is in
 */
export function recordedJvm(folder: string, pid: number, unixMs: number): string {
  const directory = join(folder, 'hsperfdata_recorded');
  const bytes = Buffer.alloc(FILE_BYTES);
  gunzipSync(readFileSync(RECORDING)).copy(bytes);
  bytes.writeBigInt64LE(BigInt(Math.round(unixMs)), BEGAN_AT);
  mkdirSync(directory, { mode: 0o755 });
  const path = join(directory, String(pid));
  writeFileSync(path, bytes, { mode: 0o600 });
  const fd = openSync(path, 'r');
  map(fd, FILE_BYTES, 'read');
  closeSync(fd);
  return directory;
}
