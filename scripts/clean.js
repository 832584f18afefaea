// Removes all build output: tsc never deletes the output of a deleted source file.
import { rmSync } from 'node:fs';

for (const folder of ['dist', 'dist-test', 'coverage'])
  rmSync(folder, { recursive: true, force: true });
