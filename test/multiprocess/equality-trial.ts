// Writes generated directories, and compares the exporter's page of each with those of the libraries.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '#app/errors.js';
import { Random } from '#app/simulator/course.js';
import { anyDirectory } from './any-directory.js';
import { differences } from './compared-pages.js';
import { Libraries } from './expected-page.js';
import { makeMemoryFolder } from './memory-folder.js';
import { writeMetricFile } from './metric-directory.js';
import { shownFamilies } from './shown-page.js';

/** The number of directories that the libraries read at once. */
const BATCH = 250;

export interface EqualityOutcome {
  readonly directories: number;
  readonly series: number;
  /** What is wrong, each after the seed of the directory. */
  readonly wrong: readonly string[];
}

/** Tries the directories of these many seeds. */
export async function tryDirectories(
  firstSeed: number,
  count: number,
  log: (line: string) => void = () => undefined,
): Promise<EqualityOutcome> {
  const libraries = new Libraries();
  const folder = makeMemoryFolder();
  const wrong: string[] = [];
  let series = 0;
  try {
    for (let first = 0; first < count; first += BATCH) {
      const seeds = Array.from(
        { length: Math.min(BATCH, count - first) },
        (_, i) => firstSeed + first + i,
      );
      const directories = seeds.map((seed) => anyDirectory(new Random(seed)));
      const answered = libraries.familiesOf(directories);
      const shown = directories.map((files, i) => {
        const path = join(folder, String(i));
        mkdirSync(path);
        for (const file of files) writeMetricFile(path, file);
        try {
          return shownFamilies(path);
        } catch (error) {
          return messageOf(error);
        } finally {
          rmSync(path, { recursive: true });
        }
      });
      for (const [i, families] of (await answered).entries()) {
        const ours = shown[i] ?? 'nothing';
        const found = typeof ours === 'string' ? [ours] : differences(families, ours);
        for (const each of found) wrong.push(`seed ${seeds[i] ?? 0}: ${each}`);
        for (const family of families.values()) series += family.series.size;
      }
      if (first % 10_000 === 0 && first > 0) log(`${first} of ${count} directories`);
    }
  } finally {
    rmSync(folder, { recursive: true });
    await libraries.close();
  }
  return { directories: count, series, wrong };
}
