// SIGHUP while the program is still being loaded.
import { expect } from 'chai';
import { join } from 'node:path';
import { PROJECT, theatre } from '../support/processes.js';

/** Sends the signal as soon as somebody listens for it: before the program is read. */
const HANG_UP = `process.on('newListener', (name) => {
  if (name === 'SIGHUP') queueMicrotask(() => {
    process.kill(process.pid, 'SIGHUP');
    process.stderr.write('hung up;');
  });
})`;

describe('SIGHUP before the configuration is read', () => {
  const stage = theatre();

  it('does not end the process', async () => {
    const preload = `data:text/javascript,${encodeURIComponent(HANG_UP)}`;
    const missing = stage.path('missing.toml');
    const exporter = stage.command([
      ...[process.execPath, '--import', preload],
      ...[join(PROJECT, 'dist/bin/shm_exporter.js'), '--config', missing],
    ]);
    expect(await exporter.ended).to.deep.equal({ status: 2, signal: null });
    expect(exporter.stderr).to.match(/^hung up;shm_exporter: .*missing\.toml/);
  });
});
