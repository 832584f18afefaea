import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delay, waitFor, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { stopProcess } from '../support/stop-process.js';
import { LINTED, promtoolLines, samplesOf, seriesOf } from './page.js';
import { expectTicks, spansBetween } from './ticks.js';
import { needsPrograms } from '../support/needs.js';

/** A document: a comment line with target and time, the text, and an end mark. */
const DOCUMENT = /# snapshot app=(\S+) server_key=(\S+) root=(\S*) time=\S+\n([^]*?)# EOF\n/y;

const residentBytes = (pid: number): number => {
  const [, kilobytes = ''] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
};

describe('an exporter that prints to a pipe', function () {
  this.slow(5000);
  const programs = testPrograms();
  const settings = {
    app: 'ads',
    server_keys: ['82'],
    metrics_http_enabled: false,
    metrics_interval_seconds: 1,
  };
  let pipes = 0;

  /** Starts the exporter with stdout to a named pipe, and `cat`, which reads from it. */
  function piped(
    more: Readonly<Record<string, unknown>> = {},
    tables = '',
  ): {
    exporter: Running;
    reader: Running;
  } {
    const pipe = programs.path(`pipe-${++pipes}`);
    spawnSync('mkfifo', [pipe]);
    const reader = programs.command(['cat', pipe]);
    const config = programs.config({ ...settings, ...more }, tables);
    const exporter = programs.start('exporter', ['--config', config], { stdoutTo: pipe });
    return { exporter, reader };
  }

  before(() =>
    programs.simulate('--app', 'ads', '--server-key', '82', '--root', 'h.1.ads', '--objects', '60'),
  );

  describe('as text', () => {
    let exporter: Running;
    let reader: Running;
    const bodies: string[] = [];

    before(async () => {
      ({ exporter, reader } = piped());
      await waitFor('three documents', () => reader.stdout.match(/# EOF\n/g)?.[2]);
      const ended = await exporter.stop();
      expect(ended).to.deep.equal({ status: 0, signal: null });
      expect(await reader.ended).to.deep.equal({ status: 0, signal: null });
    });

    it('prints only complete documents, from a comment line to # EOF', () => {
      let end = 0;
      bodies.length = 0;
      DOCUMENT.lastIndex = 0;
      // Remove the snapshots of ticks before the first sync.
      const text = reader.stdout.replace(/^# snapshot .* scrape not ready: .*\n/gm, '');
      for (let found = DOCUMENT.exec(text); found; found = DOCUMENT.exec(text)) {
        const [whole, app, key, root, body = ''] = found;
        expect([app, key, root]).to.deep.equal(['ads', '82', 'h.1.ads']);
        bodies.push(body);
        end += whole.length;
      }
      expect(bodies.length).to.be.at.least(2);
      const rest = text.slice(end);
      expect(rest, 'beside documents').to.equal('');
    });

    it('prints one document every metrics_interval_seconds (spec 1.4)', () => {
      expectTicks(spansBetween(reader.stdout), 1000);
    });

    it("prints the application's metrics and the internal metrics", () => {
      for (const body of bodies) {
        const series = seriesOf(body);
        expect(series.get('shm_exporter_internal_target_ready{}')).to.equal('1');
        expect([...series.keys()].filter((key) => key.startsWith('ads_')).length).to.be.above(50);
      }
    });

    it('prints documents in which promtool finds only the known problems', function () {
      needsPrograms(this, 'promtool');
      expect(promtoolLines(bodies[0] ?? '').sort()).to.deep.equal(LINTED);
    });

    it('logs to stderr only', () => {
      expect(exporter.stderr).to.contain('selects root h.1.ads');
      expect(reader.stdout).not.to.contain('selects root');
    });
  });

  it('prints one JSON object for each series with stdout_format = "json"', async () => {
    const { exporter, reader } = piped({ stdout_format: 'json' });
    const last = /"shm_exporter_target_heartbeat_age_seconds"/g;
    await waitFor('two documents', () => reader.stdout.match(last)?.[1]);
    await exporter.stop();
    await reader.ended;
    const rows = reader.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      // A tick may come before the first sync.
      .filter((row) => row['ready'] !== false);
    const [first] = rows;
    expect(rows.length).to.be.above(100);
    for (const row of rows) {
      expect(Object.keys(row)).to.deep.equal([
        'time',
        'app',
        'server_key',
        'root',
        'name',
        'type',
        'labels',
        'value',
      ]);
      expect(row).to.include({ app: 'ads', server_key: '82', root: 'h.1.ads' });
      expect(['number', 'string']).to.include(typeof row['value']);
    }
    expect(String(first?.['time'])).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('prints one comment line with the reason for a target that is not ready', async () => {
    const { exporter, reader } = piped({ server_keys: ['nobody'] });
    await waitFor('a line', () => /\n/.exec(reader.stdout)?.[0]);
    await exporter.stop();
    await reader.ended;
    for (const line of reader.stdout.trimEnd().split('\n'))
      expect(line).to.match(
        /^# snapshot app=ads server_key=nobody root= time=\S+ scrape not ready: objects 0\/0 synced, variables 0\/0 synced, waiting on .+$/,
      );
    expect(samplesOf(reader.stdout)).to.deep.equal([]);
  });

  it('skips snapshots while its reader is stopped, and uses no more memory', async function () {
    await programs.simulator(
      ...['--app', 'adh', '--server-key', '83', '--root', 'h.1.adh', '--objects', '3000'],
      ...['--change-fraction', '1', '--rate', '2'],
    );
    const { exporter, reader } = piped({ app: 'adh', server_keys: ['83'] });
    const documents = () => reader.stdout.match(/# EOF\n/g)?.length ?? 0;
    await waitFor('two documents', () => (documents() >= 2 ? true : undefined));
    // Ignore earlier messages: on a busy machine, the reader may have been too slow before it was stopped.
    const from = exporter.stderr.length;
    const said = (pattern: RegExp) => pattern.exec(exporter.stderr.slice(from)) ?? undefined;
    await stopProcess(reader.pid);
    const tooSlow = /the reader of stdout is too slow: skipping snapshots/;
    await waitFor('it says that it skips', () => said(tooSlow));
    const before = residentBytes(exporter.pid);
    const seen = documents();
    await delay(3000);
    const grown = residentBytes(exporter.pid) - before;
    expect(grown, 'bytes of growth').to.be.below(6_000_000);
    reader.signal('SIGCONT');
    const over = /(too slow[^]*)skipped (\d+) snapshots/;
    const [, until = '', skipped] = await waitFor('how many', () => said(over));
    expect(Number(skipped)).to.be.at.least(2);
    expect(until.match(/too slow/g), 'told once').to.have.lengthOf(1);
    const counted = () => /^shm_exporter_stdout_skipped_ticks_total [1-9]\d*$/m.exec(reader.stdout);
    await waitFor('documents show the skipped ticks', () => counted() ?? undefined);
    expect(reader.stdout).to.match(/^shm_exporter_stdout_skipped_ticks_total 0$/m);
    await waitFor('documents again', () => (documents() >= seen + 3 ? true : undefined));
    expect(Math.max(...spansBetween(reader.stdout)), 'the longest gap').to.be.at.least(2500);
    await exporter.stop();
  });

  it('reports omitted series in the log and in the documents', async function () {
    // Both variables would have the metric name shop_x_y.
    const variables = { 'x.y': { type: 'u64', value: 1 }, 'x y': { type: 'u64', value: 2 } };
    programs.publish({ server_key: '86', objects: [{ id: 'h.1.shop', class: 'Shop', variables }] });
    const { exporter, reader } = piped({ app: 'shop', server_keys: ['86'] });
    await exporter.line(/warning target shop on 86 leaves out series, 1 so far, because/);
    expect(reader.stdout).to.match(/^shm_exporter_target_series_clashes_total 1$/m);
    await exporter.stop();
  });

  it('ends immediately when its reader goes away, even while threads wait for a publisher', async () => {
    const variables = { x: { type: 'u64', value: 1 } };
    const objects = [{ id: 'h.1.shop', class: 'Shop', variables }];
    const keys = ['84', '85'];
    for (const key of keys) programs.publish({ server_key: key, objects });
    const table = (key: string) => `[[targets]]\napp = "shop"\nserver_key = "${key}"\n`;
    const threaded = { worker_execution_mode: 'threaded', target_workers: 2 };
    const { exporter, reader } = piped(threaded, keys.map(table).join(''));
    await waitFor('two documents of each', () => reader.stdout.match(/# EOF\n/g)?.[3]);
    await reader.stop('SIGKILL');
    // The deadline is shorter than the 5 s for which a thread waits at a time.
    await waitFor('it ends', () => (exporter.isOver ? true : undefined), 4500);
    expect(await exporter.ended).to.deep.equal({ status: 0, signal: null });
  });

  it('ends quietly with status 0 when its reader goes away', async () => {
    const { exporter, reader } = piped();
    await waitFor('a document', () => /# EOF\n/.exec(reader.stdout)?.[0]);
    await reader.stop('SIGKILL');
    expect(await exporter.ended).to.deep.equal({ status: 0, signal: null });
    expect(exporter.stderr).not.to.match(/EPIPE|error|at .+:\d+:\d+/i);
  });
});
