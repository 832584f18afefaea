// A real exporter process with a license of a day, for the benchmarks.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueLicense } from '../dist/license/issue-license.js';

const DIST = new URL('../dist', import.meta.url).pathname;
let count = 0;

/**
 * Starts an exporter that serves HTTP on a free port; resolves when `targets` targets are ready.
 * @param lines of the configuration, beside those that every benchmark needs
 * @param dist the build that it is started from: programs in `bin`, or a module `cli.js`
 * @param options of Node, none with a blank
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
  // As its users start it, or from single modules.
  const built = join(dist, 'bin/shm_exporter.js');
  const [program, ...words] = existsSync(built)
    ? [built]
    : [process.execPath, join(dist, 'cli.js')];
  // Node 20 reads a file of certificates at each start, if there is one, for 50 ms.
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
