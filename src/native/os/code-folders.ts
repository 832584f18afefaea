// Where the package finds its addon and prom-client at run time, also as a part of a program's bundle.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const { argv } = process;

/** The folders of the module with this URL, of the bundle that contains it, and of the program. */
export function codeFolders(moduleUrl: string): readonly string[] {
  const here = dirname(fileURLToPath(moduleUrl));
  // Webpack replaces `import.meta.url` by the path on the machine that made the bundle.
  const bundle = typeof __dirname === 'string' ? __dirname : here;
  return [here, bundle, dirname(argv[1] ?? here)];
}
