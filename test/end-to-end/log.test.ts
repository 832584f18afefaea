// Tests the log of a running exporter in the formats that log collectors read.
import { expect } from 'chai';
import { freePort } from '../support/free-port.js';
import { waitFor, testPrograms } from '../support/processes.js';
import { readyPage, scrape } from './page.js';

describe('the log', function () {
  this.slow(3000);
  const programs = testPrograms();
  before(() => programs.simulate('--app', 'ads', '--server-key', '82', '--objects', '3'));

  const start = (...args: readonly string[]) =>
    programs.start('exporter', [
      '--config',
      programs.config({ app: 'ads', server_keys: ['82'] }),
      ...args,
    ]);

  it('has one JSON object in each line with --log-format json', async () => {
    const exporter = start('--log-format', 'json');
    const [, where = ''] = await exporter.line(/metrics at (http:[^"]+)/);
    await readyPage(where);
    await exporter.stop();
    const lines = exporter.stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    for (const line of lines) expect(line).to.include.keys('time', 'level', 'msg');
    expect(lines).to.satisfy(
      (all: readonly { msg?: string; app?: string; server_key?: string }[]) =>
        all.some(({ msg, app, server_key: key }) =>
          Boolean(msg?.includes(' ready: ') && app === 'ads' && key === '82'),
        ),
    );
    expect(lines.at(-1)).to.include({ level: 'info', msg: 'SIGTERM: ending' });
  });

  it('omits lines of a level below --log-level', async () => {
    const port = await freePort();
    const exporter = start('--log-level', 'error', '--metrics-port', String(port));
    await waitFor('it serves', async () => {
      const page = await scrape(`http://127.0.0.1:${port}/-/ready`).catch(() => undefined);
      return page?.status === 200 ? page : undefined;
    });
    expect(await exporter.stop()).to.deep.equal({ status: 0, signal: null });
    expect(exporter.stderr).to.equal('');
  });

  it('has priorities and no time if the journal of systemd reads it', async () => {
    const config = programs.config({ app: 'ads', server_keys: ['82'] });
    const script = 'export JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2); exec "$@"';
    const exporter = programs.start('exporter', ['--config', config], {
      under: ['sh', '-c', script, 'sh'],
    });
    await exporter.line(/^<6>metrics at http:\S+$/m);
    await exporter.line(/^<6>target ads on 82 ready: \d+ objects/m);
    await exporter.stop();
    expect(exporter.stderr.trimEnd()).not.to.match(/^(?!<[3467]>)/m);
  });

  it('ends with the reason why the process failed, in the configured format', async () => {
    const config = programs.config({ metrics_bind_address: '192.0.2.1' });
    const exporter = programs.start('exporter', ['--config', config, '--log-format', 'json']);
    expect((await exporter.ended).status).to.equal(4);
    const last = exporter.stderr.trimEnd().split('\n').at(-1) ?? '';
    const { level, msg } = JSON.parse(last) as { level: string; msg: string };
    expect([level, msg]).to.satisfy(
      ([one, text]: readonly string[]) =>
        one === 'error' && text?.includes(': Cannot listen on 192.0.2.1:'),
    );
  });
});
