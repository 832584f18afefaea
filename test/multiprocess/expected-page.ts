// The page that the exporter must show for a directory: that of the libraries, which read each file that is theirs.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { seriesKey } from '../end-to-end/page.js';
import { PYTHON_0_16, PYTHON_0_21, RUBY } from '../support/metric-libraries.js';
import { familiesOf } from './compared-pages.js';
import type { Family } from './compared-pages.js';
import { makeMemoryFolder } from './memory-folder.js';
import { fileNameOf, usedBytesOf, writeMetricFile } from './metric-directory.js';
import type { MetricFile } from './metric-directory.js';
import { Oracle } from './oracles.js';
import type { Answer, Asked } from './oracles.js';

/** In place of an underscore in the id of a process: Python's library takes only the text up to it. */
const UNDERSCORE = '~';

/** The libraries, each in a process of its own. */
export class Libraries {
  readonly #python16 = new Oracle(PYTHON_0_16);
  readonly #python21 = new Oracle(PYTHON_0_21);
  readonly #ruby = new Oracle(RUBY);
  readonly #folder = makeMemoryFolder();

  /** The families that the exporter must show for each directory. */
  async familiesOf(
    directories: readonly (readonly MetricFile[])[],
  ): Promise<Map<string, Family>[]> {
    const python = directories.map((files) => files.filter(({ dialect }) => dialect === 'python'));
    const ruby = directories.map((files) => files.filter(({ dialect }) => dialect === 'ruby'));
    const [new_, old, rubies] = await Promise.all([
      this.#python21.pagesOf(python.map((files) => inMemory(files, 16))),
      // Version 0.16 does not know the modes `mostrecent` and `livemostrecent`.
      this.#python16.pagesOf(python.map((files) => inMemory(files.filter(isOld), 8))),
      this.#ruby.pagesOf(ruby.map((files, i) => this.#onDisk(files, i))),
    ]);
    rmSync(this.#folder, { recursive: true });
    return directories.map((files, i) => {
      const families = pythonFamilies(new_[i]);
      expectOldEquals(pythonFamilies(old[i]), families);
      chooseGreatest(files, families);
      for (const [name, family] of familiesOf(pageIn(rubies[i]))) families.set(name, family);
      return families;
    });
  }

  async close(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
    await Promise.all([this.#python16, this.#python21, this.#ruby].map((oracle) => oracle.close()));
  }

  #onDisk(files: readonly MetricFile[], index: number): Asked {
    const path = join(this.#folder, String(index));
    mkdirSync(path, { recursive: true });
    for (const file of files) writeMetricFile(path, file);
    return { path };
  }
}

const isOld = ({ mode }: MetricFile): boolean => !mode.endsWith('mostrecent');

/** The files with entries as a version of Python's library writes them, sorted by name. */
function inMemory(files: readonly MetricFile[], stride: 8 | 16): Asked {
  const named = files.map((file) => {
    const name = fileNameOf({ ...file, id: file.id.replaceAll('_', UNDERSCORE) });
    return [fileNameOf(file), name, usedBytesOf({ ...file, stride })] as const;
  });
  const sorted = named.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { files: new Map(sorted.map(([, name, bytes]) => [name, bytes])) };
}

function pageIn(answer: Answer | undefined): string {
  if (answer === undefined || 'error' in answer) throw new Error(answer?.error ?? 'no answer');
  return answer.page;
}

const pythonFamilies = (answer: Answer | undefined): Map<string, Family> =>
  familiesOf(
    pageIn(answer).replace(/(?<=[{,]pid=")[^"]*(?=")/g, (id) => id.replaceAll(UNDERSCORE, '_')),
  );

/** Fails if the versions of Python's library differ in a family that both know. */
function expectOldEquals(
  old: ReadonlyMap<string, Family>,
  families: ReadonlyMap<string, Family>,
): void {
  for (const [name, family] of old) {
    const other = families.get(name);
    const [a, b] = [family, other].map(
      (each) => each && JSON.stringify({ ...each, series: [...each.series] }),
    );
    if (a !== b) throw new Error(`${name} differs between 0.16 and 0.21: ${a} and ${b}`);
  }
}

/** Of several values with the latest time, the exporter shows the greatest, the library the first. */
function chooseGreatest(files: readonly MetricFile[], families: ReadonlyMap<string, Family>): void {
  const latest = new Map<string, { readonly time: number; readonly value: number }>();
  for (const { mode, entries } of files) {
    if (!mode.endsWith('mostrecent')) continue;
    for (const { family, sample, labels, value, time } of entries) {
      const texts = labels.map(([name, text]) => [name, String(text)] as const);
      const key = `${family} ${seriesKey(sample, Object.fromEntries(texts))}`;
      const last = latest.get(key) ?? { time: 0, value: 0 };
      if (time > last.time || (time === last.time && time > 0 && value > last.value))
        latest.set(key, { time, value });
    }
  }
  for (const [key, { value }] of latest) {
    const blank = key.indexOf(' ');
    families.get(key.slice(0, blank))?.series.set(key.slice(blank + 1), value);
  }
}
