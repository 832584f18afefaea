// Tests SIGHUP while the program is loading, and SIGUSR1, on which Node.js would open its debugger.
import { expect } from 'chai';
import { join } from 'node:path';
import { PROJECT, testPrograms } from '../support/processes.js';

/** Sends SIGHUP as soon as a listener for it is added, which is before the program is loaded. */
const HANG_UP = `process.on('newListener', (name) => {
  if (name === 'SIGHUP') queueMicrotask(() => {
    process.kill(process.pid, 'SIGHUP');
    process.stderr.write('hung up;');
  });
})`;

describe('SIGHUP before the configuration is read', () => {
  const programs = testPrograms();

  it('does not end the process', async () => {
    const preload = `data:text/javascript,${encodeURIComponent(HANG_UP)}`;
    const missing = programs.path('missing.toml');
    const exporter = programs.command([
      ...[process.execPath, '--import', preload],
      ...[join(PROJECT, 'dist/bin/shm_exporter.js'), '--config', missing],
    ]);
    expect(await exporter.ended).to.deep.equal({ status: 2, signal: null });
    expect(exporter.stderr).to.match(/^hung up;shm_exporter: .*missing\.toml/);
  });
});

describe('SIGUSR1', () => {
  const programs = testPrograms();

  it('opens no debugger, and the exporter keeps running', async () => {
    const exporter = programs.exporter({ server_keys: ['1'] });
    await exporter.line(/metrics at/);
    exporter.signal('SIGUSR1');
    exporter.signal('SIGHUP');
    await exporter.line(/configuration reloaded/);
    expect((await exporter.stop()).status).to.equal(0);
    expect(exporter.stderr).not.to.match(/debugger/i);
  });
});
