// Writes the catalogue of the workload.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAMILIES, kindOf, nameOf } from './workload.js';

/** Writes the catalogue into a folder and returns the file's path. */
export function writeCatalogue(folder) {
  const path = join(folder, 'bench.toml');
  const metrics = Array.from({ length: FAMILIES }, (_, family) => {
    const type = kindOf(family) === 'counter' ? 'counter' : 'gauge';
    return `  { var = "${nameOf(family)}", name = "${nameOf(family)}", type = "${type}", help = "A family of the workload." },`;
  });
  writeFileSync(
    path,
    `app = "bench"\n[[classes]]\nalias = "client"\nclass_ids = ["Client"]\npaths = ["fleet.{host}.{client}.{service}"]\nmetrics = [\n${metrics.join('\n')}\n]\n`,
  );
  return path;
}
