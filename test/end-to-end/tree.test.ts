// Tests the page at /tree over real publishers, in both execution modes.
import { hashSync } from 'bcryptjs';
import { expect } from 'chai';
import { SPECIFIED_MODE as mode } from '../support/modes.js';
import { waitFor, testPrograms } from '../support/processes.js';
import { textOf } from '../support/text-of-html.js';
import { readyPage, samplesOf, scrape } from './page.js';

/** Returns the rows of a page: name, value, and the series that show it or the reason why none does. */
const rowsOf = (html: string): readonly string[] =>
  [...html.matchAll(/<tr [^>]*id="i[^]*?<\/tr>/g)].map(([row]) => textOf(row));

/** Returns the series in the rows of a page, without their values. */
const seriesIn = (html: string): readonly string[] =>
  [...html.matchAll(/<span class="metric">([^]*?)<\/span>\s*<\/td>/g)]
    .flatMap(([, metrics = '']) => metrics.split('<span class="metric">'))
    .map((metric) => textOf(metric))
    .filter((text) => !text.startsWith('not '))
    .map((text) => text.replace(/ \d+ series$/, ''));

describe('the tree page of a target', function () {
  this.slow(5000);
  const programs = testPrograms();
  let origin = '';
  const exporter = async (settings: Readonly<Record<string, unknown>> = {}, more = '') => {
    const config = programs.config({ worker_execution_mode: mode, ...settings }, more);
    const running = programs.start('exporter', ['--config', config]);
    const [, url = ''] = await running.line(/metrics at (http:\S+)\/metrics/);
    return url.replace('0.0.0.0', '127.0.0.1');
  };
  const TARGETS = `
[[targets]]
app = "ads"
server_key = "82"
[[targets]]
app = "ads"
server_key = "91"
`;
  before(async () => {
    programs.simulate('--app', 'ads', '--server-key', '82', '--objects', '60', '--rate', '0');
    programs.publish({
      server_key: '91',
      objects: [
        {
          id: 'h.1.ads',
          class: 'ManagedProcess.SinkDist',
          variables: {
            processID: { type: 'i64', value: 4711 },
            version: { type: 'string', value: '<b>3.8</b>' },
            'unread text': { type: 'string', value: 'Jane Doe' },
            'unread number': { type: 'u64', value: 5 },
            time: { type: 'string' },
          },
        },
        {
          id: 'h.1.ads.x',
          parent: 'h.1.ads',
          class: 'No.Such',
          variables: { late: { type: 'u64', value: 1 } },
        },
      ],
    });
    origin = await exporter({}, TARGETS);
    await readyPage(`${origin}/metrics?server_key=82`);
    await waitFor('all trees are there', async () =>
      (await scrape(`${origin}/tree?server_key=91`)).status === 200 ? true : undefined,
    );
  });

  /** Returns the HTML of all pages of a tree. */
  const whole = async (query: string): Promise<string> => {
    let html = '';
    for (let path: string | undefined = `/tree?${query}`; path !== undefined;) {
      const { status, body } = await scrape(new URL(path, origin).href);
      expect(status, path).to.equal(200);
      html += body;
      const [, next] = /<a href="([^"]*)" rel="next"/.exec(body) ?? [];
      path = next?.replaceAll('&#38;', '&');
    }
    return html;
  };

  it('names every metric of the scrape page, and no other metric', async () => {
    const samples = samplesOf(await readyPage(`${origin}/metrics?server_key=82`));
    const own = new Set(
      samples
        .map(({ name }) => name)
        .filter((name) => name.startsWith('ads_'))
        .map((name) => name.replace(/_(bucket|sum|count)$/, '')),
    );
    const shown = new Set(
      seriesIn(await whole('server_key=82')).map((text) => text.replace(/\{.*/, '')),
    );
    expect([...shown].toSorted()).to.deep.equal([...own].toSorted());
  });

  it('shows the values of the scrape page', async () => {
    const samples = samplesOf(await readyPage(`${origin}/metrics?server_key=82`));
    const html = await whole('server_key=82&show=metrics&q=ads_mounts_active_users&in=metric');
    const wanted = samples.find(({ name }) => name === 'ads_mounts_active_users')?.value;
    expect(wanted).to.match(/^\d+$/);
    expect(rowsOf(html)[1]).to.equal(
      `activeUsers i64 gauge ${wanted ?? ''} ads_mounts_active_users`,
    );
  });

  it('escapes strings, marks values without a metric, and also shows a target that is not ready', async () => {
    const { status, body } = await scrape(`${origin}/tree?server_key=91`);
    expect(status).to.equal(200);
    expect(textOf(body)).to.contain('syncing: waiting on variable time of h.1.ads');
    expect(rowsOf(body)).to.deep.equal([
      'h.1.ads 5 variables, 1 child ManagedProcess.SinkDist normal ads_process_object_state 6 series',
      'processID i64 4711 ads_process_pid',
      'version string "<b>3.8</b>" ads_process_info',
      'unread text string "Jane Doe" no metric: no row reads it',
      'unread number u64 5 no metric: no row reads it',
      'time string (not synced) not ads_process_start_time_seconds not synced yet',
      'h.1.ads.x 1 variable No.Such normal no metric: its class has no row',
      'late u64 1 no metric: its class has no row',
    ]);
    expect(body).not.to.contain('<b>');
  });

  it('searches in names, values and metrics, and counts its results', async () => {
    for (const [query, wanted] of [
      ['q=jane&in=value', ['h.1.ads', 'unread text']],
      ['q=process_pid&in=metric', ['h.1.ads', 'processID']],
      ['show=unsynced', ['h.1.ads', 'time']],
      ['q=no.such&in=class', ['h.1.ads.x', 'late']],
      ['object=x&q=late', ['h.1.ads.x', 'late']],
    ] as const) {
      const { body } = await scrape(`${origin}/tree?server_key=91&${query}`);
      expect(
        rowsOf(body).map((row) => wanted.find((name) => row.startsWith(`${name} `))),
        query,
      ).to.deep.equal(wanted);
    }
  });

  it('is linked from the status page, and shows the same status', async () => {
    const { body } = await scrape(`${origin}/`);
    expect(body).to.match(/<a [^>]*href="\.\/tree\?server_key=91"[^>]*>tree<\/a>/);
    expect(textOf(body)).to.contain('1 of 2 targets not ready');
    expect(textOf(body)).to.match(/License valid expires in 1 d/);
    expect(textOf(body)).to.contain(`pid ${process.pid}, started `);
    expect(textOf(body)).to.match(/heartbeat \d s ago/);
  });

  describe('with string variables that no catalogue row reads', () => {
    const hidden =
      'unread text string (hidden: no catalogue row reads this string) no metric: no row reads it';
    const textRow = async (url: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${url}/tree?server_key=91&q=unread+text`, { headers });
      return { status: answer.status, row: rowsOf(await answer.text())[1] };
    };

    it('neither shows nor finds their values for clients on other machines', async () => {
      const url = await exporter({ metrics_bind_address: '0.0.0.0' }, TARGETS);
      await readyPage(`${url}/metrics?server_key=82`);
      const row = await waitFor('there is a tree', async () => {
        const answer = await textRow(url);
        return answer.status === 200 ? answer.row : undefined;
      });
      expect(row).to.equal(hidden);
      const { body } = await scrape(`${url}/tree?server_key=91&q=jane`);
      expect(body).to.contain('Nothing found from here to the end.');
      const { body: number } = await scrape(`${url}/tree?server_key=91&q=4711&in=value`);
      expect(rowsOf(number)).to.have.lengthOf(2);
    });

    it('shows their values to clients on other machines only with a password', async () => {
      programs.write('web.yml', `basic_auth_users:\n  alice: ${hashSync('s:cret', 4)}\n`);
      const settings = { metrics_bind_address: '0.0.0.0', web_config_file: 'web.yml' };
      const url = await exporter(settings, TARGETS);
      const authorization = `Basic ${Buffer.from('alice:s:cret').toString('base64')}`;
      for (const path of ['/', '/tree?server_key=91', '/tree'])
        expect((await fetch(url + path)).status, path).to.equal(401);
      const row = await waitFor('there is a tree', async () => {
        const answer = await textRow(url, { authorization });
        return answer.status === 200 ? answer.row : undefined;
      });
      expect(row).to.contain('"Jane Doe"');
    });

    it('answers 403 if http_tree_enabled is false', async () => {
      const url = await exporter({ http_tree_enabled: false }, TARGETS);
      expect((await scrape(`${url}/tree?server_key=91`)).status).to.equal(403);
      expect((await scrape(`${url}/`)).body).not.to.contain('/tree');
    });
  });
});
