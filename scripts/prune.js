// Removes what was built of sources that are gone: tsc leaves it, and tests would import or run it.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const OUTPUT = /\.(js|js\.map|d\.ts)$/;

const sourceOf = (sources, file) => join(sources, file.replace(OUTPUT, '.ts'));

/** @param sources folders, each of which is built into the same one */
export function prune(built, ...sources) {
  if (!existsSync(built)) return;
  for (const file of readdirSync(built, { recursive: true }))
    if (OUTPUT.test(file) && !sources.some((each) => existsSync(sourceOf(each, file))))
      rmSync(join(built, file));
}
