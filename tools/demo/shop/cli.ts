// Runs the shop of examples/gunicorn with Gunicorn, and sends it a few requests a second, until SIGTERM. The first
// argument is a folder for its socket; PROMETHEUS_MULTIPROC_DIR names the directory of its metrics.
import { spawn } from 'node:child_process';
import { get } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SHOP = fileURLToPath(new URL('../../../examples/gunicorn', import.meta.url));
const PAUSE_MS = 100;
const TIMEOUT_MS = 2000;
const PATHS = ['/', '/', '/order', '/missing'];
/** Runs Gunicorn, which ends when this process ends, even if SIGKILL ends it: PR_SET_PDEATHSIG is 1. */
const RUN = `
import ctypes, runpy, signal
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
runpy.run_module('gunicorn', run_name='__main__')
`;

const [, , folder = ''] = process.argv;
const socketPath = join(folder, 'shop.socket');
const gunicorn = spawn(
  'python3',
  [
    ...['-c', RUN, '--config', join(SHOP, 'gunicorn.conf.py'), '--chdir', SHOP],
    ...['--bind', `unix:${socketPath}`, '--workers', '3', '--worker-tmp-dir', folder],
    // Workers end and start again within minutes.
    ...['--max-requests', '300', '--max-requests-jitter', '100', '--graceful-timeout', '1'],
    ...['--log-level', 'error', 'shop:app'],
  ],
  // Python would write its bytecode beside the application.
  {
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['ignore', 'inherit', 'inherit'],
  },
);
gunicorn.once('exit', (code) => process.exit(code ?? 0));
gunicorn.once('error', ({ message }) => {
  console.error(message);
  process.exit(1);
});
process.once('SIGTERM', () => gunicorn.kill('SIGTERM'));

let isReady = false;
let sent = 0;
function request(): void {
  const path = PATHS[sent++ % PATHS.length] ?? '/';
  const again = (): void => void setTimeout(request, PAUSE_MS);
  // Until Gunicorn listens, and while the demo ends, requests fail.
  const sending = get({ socketPath, path, timeout: TIMEOUT_MS }, (response) => {
    response.resume().once('close', again);
    if (!isReady) console.error('ready');
    isReady = true;
  });
  sending.once('error', again);
  sending.once('timeout', () => sending.destroy(new Error('no answer in time')));
}
request();
