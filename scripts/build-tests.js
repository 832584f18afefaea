// Builds dist-test/ for `npm test` without type checks, which `npm run check` makes. `tsc -b test` builds the same
// files.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

await build({
  entryPoints: readdirSync('test', { recursive: true })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join('test', file)),
  outbase: 'test',
  outdir: 'dist-test',
  format: 'esm',
  platform: 'node',
  sourcemap: true,
  sourcesContent: false,
  tsconfig: 'test/tsconfig.json',
  logLevel: 'warning',
});
