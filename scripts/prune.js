// Removes what was built of sources that are gone: tsc leaves it, and tests would import or run it.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const OUTPUT = /\.(js|js\.map|d\.ts)$/;

export function prune(built, sources) {
  if (!existsSync(built)) return;
  for (const file of readdirSync(built, { recursive: true }))
    if (OUTPUT.test(file) && !existsSync(join(sources, file.replace(OUTPUT, '.ts'))))
      rmSync(join(built, file));
}
