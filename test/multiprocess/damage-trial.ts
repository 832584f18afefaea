// Damages files of real libraries before and while a poller reads them.
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '#app/errors.js';
import type { Random } from '#app/simulator/course.js';
import { withNumericBounds } from './compared-pages.js';
import { DamagedDirectory, damaged } from './file-damage.js';
import { makeMemoryFolder } from './memory-folder.js';
import { writeBytes } from './metric-directory.js';
import { RECORDED_DIRECTORIES, extractRecorded } from './recorded-directories.js';
import { applicationFamilies, multiprocessPoller, pageOf, shownFamilies } from './shown-page.js';

/** The process of each recorded directory whose files are damaged. */
const PROCESS = /_(uwsgi_worker_2|puma_2-0)\.db$/;

export interface DamageOutcome {
  readonly tried: number;
  readonly right: number;
  /** What is wrong, each after the damage. */
  readonly wrong: readonly string[];
}

/** Removes a file of another process. Cuts a file behind its used bytes, to make the trial faster. */
function shrink(path: string): void {
  const bytes = readFileSync(path);
  if (PROCESS.test(path)) writeBytes(path, bytes.subarray(0, bytes.readInt32LE(0) + SPARE_BYTES));
  else rmSync(path);
}
const SPARE_BYTES = 256;

/** Tries these many damages. */
export function tryDamage(
  random: Random,
  count: number,
  log: (line: string) => void = () => undefined,
): DamageOutcome {
  const folder = makeMemoryFolder();
  const wrong: string[] = [];
  let right = 0;
  try {
    const directories = RECORDED_DIRECTORIES.map((recorded) => {
      const path = extractRecorded(recorded, join(folder, recorded.name));
      for (const name of readdirSync(path)) shrink(join(path, name));
      return new DamagedDirectory(path, recorded.dialect, withNumericBounds(shownFamilies(path)));
    });
    for (let tried = 0; tried < count; tried++) {
      const directory = directories[tried % directories.length];
      const name = directory?.names[random.below(directory.names.length)];
      if (directory === undefined || name === undefined) throw new Error('nothing is recorded');
      const { bytes, what } = damaged(random, directory.bytesOf(name));
      const found = tryOne(directory, name, bytes, random.below(2) === 0);
      right += found.right;
      for (const each of found.wrong) wrong.push(`${name}: ${what}: ${each}`);
      if (tried % 10_000 === 9999) log(`${tried + 1} of ${count} damages`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { tried: count, right, wrong };
}

/**
 * Damages a file, reads the directory, restores the file, and reads it again.
 * @param wasOpen whether a poller reads the file before the damage
 */
function tryOne(directory: DamagedDirectory, name: string, bytes: Buffer, wasOpen: boolean) {
  const poller = multiprocessPoller({ directories: [directory.path] });
  const wrong: string[] = [];
  const versions: Buffer[] = [];
  let right = 0;
  const read = (version: Buffer, moment: string): void => {
    directory.write(name, version);
    versions.push(version);
    const families = withNumericBounds(applicationFamilies(pageOf(poller).page));
    const found = directory.judge(name, versions, families);
    right += found.right;
    for (const each of found.wrong) wrong.push(`${moment}: ${each}`);
  };
  const undamaged = directory.bytesOf(name);
  try {
    if (wasOpen) read(undamaged, 'before');
    read(bytes, wasOpen ? 'damaged while open' : 'damaged');
    read(undamaged, 'restored');
  } catch (error) {
    wrong.push(messageOf(error));
  } finally {
    poller.close();
    directory.write(name, undamaged);
  }
  return { wrong, right };
}
