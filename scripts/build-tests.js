// Builds dist-test/ for `npm test`, without a check of types: `npm run check` makes that, and `tsc -b test` builds the same.
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
