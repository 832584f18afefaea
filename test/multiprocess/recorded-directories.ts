// Directories that the libraries wrote (test/data/real), with the pages that the libraries made of them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../support/processes.js';
import { familiesOf } from './compared-pages.js';
import type { Family } from './compared-pages.js';
import type { Dialect } from './metric-directory.js';

const RECORDED = join(PROJECT, 'test/data/real');

export interface RecordedDirectory {
  readonly name: string;
  readonly dialect: Dialect;
  readonly stride: 8 | 16;
}

export const RECORDED_DIRECTORIES: readonly RecordedDirectory[] = [
  { name: 'prometheus_client-0.16.0', dialect: 'python', stride: 8 },
  { name: 'prometheus_client-0.21.1', dialect: 'python', stride: 16 },
  { name: 'prometheus-client-mmap-0.16.2', dialect: 'ruby', stride: 8 },
];

/** Extracts a recorded directory to a new path. */
export function extractRecorded({ name }: RecordedDirectory, to: string): string {
  mkdirSync(to, { recursive: true });
  const archive = join(RECORDED, `${name}.tar.gz`);
  const words = ['-xzf', archive, '--no-same-owner', '--preserve-permissions', '-C', to];
  const { status, stderr } = spawnSync('tar', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`tar: ${stderr}`);
  return to;
}

/** The page of the library. It shows the id `uwsgi_worker_2` only up to `_`, less the last three letters. */
export function recordedFamilies({ name, dialect }: RecordedDirectory): Map<string, Family> {
  const page = readFileSync(join(RECORDED, `${name}.prom`), 'utf8');
  const [cut, whole] = ['pid="uw"', 'pid="uwsgi_worker_2"'];
  if (dialect === 'python' && !page.includes(cut)) throw new Error(`${name} has no ${cut}`);
  return familiesOf(dialect === 'python' ? page.replaceAll(cut, whole) : page);
}
