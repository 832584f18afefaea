// The counter file of a JVM that ran once, for a host on which none runs.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** An OpenJDK 17 whose heap was collected some times; what was personal in its texts is erased. */
const RECORDING = new URL('recorded.hsperfdata.gz', import.meta.url);
/** The bytes of a file as a JVM makes it; the recording has those in use. */
const FILE_BYTES = 32_768;
/** Where the recording has `sun.rt.createVmBeginTime`, Unix milliseconds. */
const BEGAN_AT = 472;

/**
 * Puts the file below a folder, as of a JVM that is this process and begins now.
 * @param pid of a process that runs: what is of none counts as left behind
 * @returns the directory that it is in
 */
export function recordedJvm(folder: string, pid: number, unixMs: number): string {
  const directory = join(folder, 'hsperfdata_recorded');
  const bytes = Buffer.alloc(FILE_BYTES);
  gunzipSync(readFileSync(RECORDING)).copy(bytes);
  bytes.writeBigInt64LE(BigInt(Math.round(unixMs)), BEGAN_AT);
  mkdirSync(directory, { mode: 0o755 });
  writeFileSync(join(directory, String(pid)), bytes, { mode: 0o600 });
  return directory;
}
