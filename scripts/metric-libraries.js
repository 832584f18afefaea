// Fetches the metrics libraries whose files the format `multiprocess` reads, and the servers that use them, into a
// folder of the user's cache: two versions of Python's prometheus_client with Gunicorn, and GitLab's Ruby library with
// Ruby. Nothing else of the system changes. Usage: node scripts/metric-libraries.js
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, extractPackages } from './debian-packages.js';

/** `test/support/metric-libraries.ts` looks here. */
const FOLDER = join(CACHE, 'libraries');
const TREES = [
  {
    name: 'python-bookworm',
    suite: 'bookworm',
    packages: [
      ...['python3-prometheus-client', 'python3-decorator', 'python3-gunicorn'],
      ...['python3-setuptools', 'python3-pkg-resources'],
    ],
  },
  {
    name: 'python-trixie',
    suite: 'trixie',
    packages: [
      ...['python3-prometheus-client', 'python3-decorator', 'python3-gunicorn'],
      'python3-packaging',
    ],
  },
  {
    name: 'ruby-bookworm',
    suite: 'bookworm',
    packages: ['ruby-prometheus-client-mmap', 'ruby3.1', 'libruby3.1', 'ruby-rubygems'],
  },
];

for (const { name, suite, packages } of TREES) {
  const tree = join(FOLDER, name);
  if (!existsSync(tree)) {
    const partial = `${tree}.partial`;
    rmSync(partial, { recursive: true, force: true });
    extractPackages(suite, packages, partial);
    renameSync(partial, tree);
  }
  console.log(tree);
}
