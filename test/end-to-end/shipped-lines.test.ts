// JSON lines that Debian's rsyslog ships.
import { expect } from 'chai';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { waitFor, testPrograms } from '../support/processes.js';
import { needsPrograms } from '../support/needs.js';

describe('JSON lines through rsyslog', function () {
  this.slow(10_000);
  const programs = testPrograms();

  before(() => programs.simulate('--app', 'ads', '--server-key', '82', '--objects', '60'));

  it('arrive complete and in order while the file grows', async function () {
    needsPrograms(this, 'rsyslogd');
    const [input, output] = [programs.path('snapshots.jsonl'), programs.path('shipped.jsonl')];
    const configuration = programs.path('rsyslog.conf');
    writeFileSync(input, '');
    writeFileSync(
      configuration,
      `module(load="imfile")
template(name="line" type="string" string="%msg%\\n")
input(type="imfile" File="${input}" Tag="shm" ruleset="ship")
ruleset(name="ship") { action(type="omfile" file="${output}" template="line") }
`,
    );
    const pid = programs.path('rsyslog.pid');
    const shipper = programs.command(['rsyslogd', '-n', '-f', configuration, '-i', pid]);
    const config = programs.config({
      ...{ app: 'ads', server_keys: ['82'], metrics_http_enabled: false },
      ...{ metrics_interval_seconds: 1, stdout_format: 'json' },
    });
    const exporter = programs.start('exporter', ['--config', config], { stdoutTo: input });
    const read = (path: string) => readFileSync(path, 'utf8');
    const snapshots = /"name":"shm_exporter_stdout_skipped_ticks_total"/g;
    await waitFor('three snapshots', () => read(input).match(snapshots)?.[2]);
    expect(await exporter.stop()).to.deep.equal({ status: 0, signal: null });

    const printed = read(input);
    expect(printed.length).to.be.above(10_000);
    const shipped = await waitFor('the last line', () => {
      const text = existsSync(output) ? read(output) : '';
      return text.length >= printed.length ? text : undefined;
    });
    expect(shipped === printed, 'the same bytes').to.equal(true);
    await shipper.stop();
  });
});
