// Removes what a build makes: tsc never deletes the output of a file that is gone.
import { rmSync } from 'node:fs';

for (const folder of ['dist', 'dist-test', 'coverage'])
  rmSync(folder, { recursive: true, force: true });
