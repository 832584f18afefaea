// What the exporter does to the shared memory of Varnish, call by call.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { theatre } from '../support/processes.js';
import { hasVarnish, varnishServer } from '../varnish/varnish-server.js';
import { pageWith } from './page.js';

/** Calls that neither change nor lock anything, nor ask whether something is locked. */
const HARMLESS =
  /^(openat|read|pread64|fstat|newfstatat|statx|lstat|stat|getdents64|close|fcntl|readlink)$/;

const childOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());

describe('the exporter and the shared memory of Varnish', function () {
  this.timeout(180_000);
  this.slow(30_000);
  const stage = theatre();
  const server = varnishServer();
  before(async function () {
    if (!hasVarnish() || spawnSync('strace', ['-V']).error !== undefined) this.skip();
    await server.start();
  });

  it('opens files for reading, copies them, and neither writes nor locks', async () => {
    const config = stage.config(
      {},
      `[[targets]]\napp = "varnish"\nserver_key = "shop"\nformat = "varnish"\nformat_settings = { directory = "${server.directory}" }\n`,
    );
    const trace = stage.path('trace');
    const exporter = stage.start('exporter', ['--config', config], {
      under: ['strace', '-f', '-y', '-s', '0', '-o', trace],
    });
    const url = await exporter.url();
    for (let scrapes = 0; scrapes < 3; scrapes++)
      await pageWith(url, (series) => series.get('varnish_up{}') === '1', 'it is there');
    // The tracer ends with what it traces.
    process.kill(childOf(exporter.pid), 'SIGTERM');
    await exporter.ended;
    const calls = readFileSync(trace, 'utf8')
      .split('\n')
      .filter((line) => /^\d+ /.test(line) && line.includes(server.path));
    expect(calls.length).to.be.greaterThan(100);
    for (const call of calls) {
      const [, name = ''] = /^\d+ +(?:<\.\.\. )?(\w+)/.exec(call) ?? [];
      expect(name, call).to.match(HARMLESS);
      if (call.includes(' openat('))
        expect(call).to.contain('O_RDONLY').and.to.contain('O_NOFOLLOW');
      if (name === 'fcntl') expect(call).not.to.match(/LK/);
      expect(call).not.to.match(/_\.pid|_\.Log/);
    }
    expect(calls.some((call) => call.includes('pread64'))).to.equal(true);
  });
});
