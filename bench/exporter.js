// Starts a real exporter process, with a license for one day, for the benchmarks.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueLicense } from '../dist/license/issue-license.js';

const DIST = new URL('../dist', import.meta.url).pathname;
let count = 0;

/**
 * Starts an exporter that serves HTTP on a free port; resolves when `targets` targets are ready.
 * @param lines configuration lines in addition to those of every benchmark
 * @param dist the folder of the build, with programs in `bin` or a module `cli.js`
 * @param options options of Node.js, none with a space
 */
export async function startExporter(folder, lines, targets = 1, dist = DIST, options = []) {
  const license = join(folder, 'license.json');
  const now = Date.now();
  const term = { issuedAt: new Date(now - 60_000), expiresAt: new Date(now + 86_400_000) };
  writeFileSync(license, issueLicense({ licensee: 'bench', ...term }));
  const config = join(folder, `config-${++count}.toml`);
  const write = (own) => writeFileSync(config, `${[...common, ...own].join('\n')}\n`);
  const common = [
    `license_file = "${license}"`,
    'metrics_http_enabled = true',
    'metrics_bind_address = "127.0.0.1"',
    'metrics_port = 0',
  ];
  write(lines);
  // Start the bundled program, as users do. A build without bundles has only separate modules.
  const built = join(dist, 'bin/shm_exporter.js');
  const [program, ...words] = existsSync(built)
    ? [built]
    : [process.execPath, join(dist, 'cli.js')];
  // Clear NODE_EXTRA_CA_CERTS: with it, Node.js 20 reads the certificates at each start, which takes 50 ms.
  const child = spawn(program, [...words, '--config', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: options.join(' '), NODE_EXTRA_CA_CERTS: '' },
  });
  const reload = (own) => {
    write(own);
    child.kill('SIGHUP');
  };
  const exporter = { child, log: '', port: 0, reload, stop: () => stop(child) };
  child.stderr.on('data', (chunk) => (exporter.log += chunk));
  await new Promise((resolve, reject) => {
    const patience = setTimeout(() => reject(new Error(`not ready:\n${exporter.log}`)), 120_000);
    child.on('exit', () => reject(new Error(`the exporter ended:\n${exporter.log}`)));
    child.stderr.on('data', () => {
      if ((exporter.log.match(/ ready: /g)?.length ?? 0) < targets) return;
      patience.close();
      resolve();
    });
  });
  exporter.port = Number(/metrics at http:\/\/127\.0\.0\.1:(\d+)/.exec(exporter.log)?.[1]);
  return exporter;
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
