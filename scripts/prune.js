// Removes the output of deleted source files: tsc keeps it, and tests would import or run it.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const OUTPUT = /\.(js|js\.map|d\.ts)$/;

const sourceOf = (sources, file) => join(sources, file.replace(OUTPUT, '.ts'));

/** @param sources the source folders that are built into `built` */
export function prune(built, ...sources) {
  if (!existsSync(built)) return;
  for (const file of readdirSync(built, { recursive: true }))
    if (OUTPUT.test(file) && !sources.some((each) => existsSync(sourceOf(each, file))))
      rmSync(join(built, file));
}
