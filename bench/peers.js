// Compares the exporter with other programs on one workload. Runs the harness of ../shared/peers, if that folder
// exists, in a copy of the folder. The C++ program of the harness needs a compiler and ISA-L. A server that only does
// the work of a scrape (work-peer.js) is one of the programs. Usage: peers.js [series] [further options]
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = new URL('..', import.meta.url).pathname;
const PEERS = join(ROOT, '../shared/peers');
const [series = '100000', ...options] = process.argv.slice(2);
if (!existsSync(join(PEERS, 'run.sh'))) {
  console.log('No ../shared/peers: nothing to compare with.');
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'shm-peers-'));
try {
  cpSync(PEERS, folder, { recursive: true });
  const { status } = spawnSync(
    './run.sh',
    [
      ...['--n', series, '--f', '0,0.01,0.1,1', '--rounds', '15'],
      ...['--gzip-rounds', '15', '--gzip-f', '0.01', '--load-reps', '1', '--load-ms', '300'],
      ...['--peers', 'floor-node,cpp-hand-stream', '--extra', 'ours/peer.json'],
      ...['--extra', join(ROOT, 'bench/work-peer.json'), ...options],
    ],
    { cwd: folder, stdio: 'inherit', env: { ...process.env, OURS: ROOT } },
  );
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
