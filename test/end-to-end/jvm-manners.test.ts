// What the exporter does to the counter files of JVMs, call by call.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { perfFile, someCounters } from '../hsperfdata/perf-file.js';
import { theatre } from '../support/processes.js';
import { pageWith } from './page.js';

/** Calls that neither change nor lock anything, nor ask whether something is locked. */
const HARMLESS =
  /^(openat|read|pread64|fstat|newfstatat|statx|lstat|stat|getdents64|close|inotify_add_watch|fcntl|readlink)$/;

const childOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());

describe('the exporter and the counter files of JVMs', function () {
  this.slow(20_000);
  const stage = theatre();

  it('opens them for reading, copies them, and neither writes nor locks', async function () {
    if (spawnSync('strace', ['-V']).error !== undefined) this.skip();
    const { pid } = stage.command(['sleep', '600']);
    const directory = stage.path('hsperfdata_shop');
    mkdirSync(directory, { mode: 0o755 });
    writeFileSync(join(directory, String(pid)), perfFile(someCounters()).bytes, { mode: 0o600 });
    const config = stage.config(
      {},
      `[[targets]]\napp = "jvm"\nserver_key = "jvm"\nformat = "hsperfdata"\nformat_settings = { directories = ["${directory}"] }\n`,
    );
    const trace = stage.path('trace');
    const exporter = stage.start('exporter', ['--config', config], {
      under: ['strace', '-f', '-y', '-s', '0', '-o', trace],
    });
    const url = await exporter.url();
    for (let scrapes = 0; scrapes < 3; scrapes++)
      await pageWith(url, (series) => series.get('jvm_processes{}') === '1', 'it is there');
    // The tracer ends with what it traces.
    process.kill(childOf(exporter.pid), 'SIGTERM');
    await exporter.ended;
    const calls = readFileSync(trace, 'utf8')
      .split('\n')
      .filter((line) => line.includes(`hsperfdata_shop/${pid}`));
    expect(calls.length).to.be.greaterThan(3);
    for (const call of calls) {
      const [, name = ''] = /^\d+ +(?:<\.\.\. )?(\w+)/.exec(call) ?? [];
      expect(name, call).to.match(HARMLESS);
      if (name === 'openat') expect(call).to.contain('O_RDONLY').and.to.contain('O_NOFOLLOW');
      if (name === 'fcntl') expect(call).not.to.match(/LK/);
    }
    expect(calls.some((call) => call.includes('pread64'))).to.equal(true);
  });
});
