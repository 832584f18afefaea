// The programs that scripts/newer-programs.js fetches.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { needs } from './needs.js';

const CACHE = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
const FOLDER = join(CACHE, 'shm_exporter', 'programs');

/** The packages with the types of Kubernetes objects. */
export const KUBERNETES_TYPES = join(FOLDER, 'npm/node_modules');

/** The path of a program, such as `prometheus` for Prometheus 3. */
export const newer = (program: string): string => join(FOLDER, 'bin', program);

/** Skips unless all these programs were fetched. */
export function needsNewer(context: Mocha.Context, ...programs: readonly string[]): void {
  for (const program of programs)
    needs(
      context,
      existsSync(newer(program)),
      `scripts/newer-programs.js has not fetched ${program}`,
    );
}
