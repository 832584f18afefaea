// Tests that the exporter accepts the drafts of shm_dump --catalogue, and that Prometheus accepts the
// resulting pages.
import { expect } from 'chai';
import { isInstalled } from '../support/processes.js';
import { applicationPart, promtoolLines, readyPage, samplesOf } from '../end-to-end/page.js';
import { dumps } from './dumps.js';
import { needsPrograms } from '../support/needs.js';

const ODD_SHOP = {
  server_key: 'odd',
  objects: [
    {
      id: 'h.1.shop',
      class: 'Shop',
      variables: {
        opened: { type: 'string', value: 'Mon Jan  5 08:00:00 2026' },
        login: { type: 'string', value: 'jane' },
        'turn \u202e"': { type: 'string', value: 'x' },
      },
    },
    ...['till1', 'till2'].map((till, i) => ({
      id: `h.1.shop.floor.${till}`,
      parent: 'h.1.shop',
      class: 'Till',
      variables: {
        bytesSent: { type: 'u64', value: 5 + i },
        sentBytes: { type: 'u64', value: 7 },
        'sales.80': { type: 'u64', kind: 'counter', value: 3 },
        'sales.81': { type: 'u64', kind: 'counter', value: 4 },
        waitMs: { type: 'f64', kind: 'gauge', value: 250 },
        percentUsed: { type: 'u64', value: 40 },
        wait: {
          type: 'histogram',
          unit: 'ms',
          help: 'Says "how long".',
          value: { bounds: [100], counts: [1, 1], sum: 300 },
        },
        'a {b}': { type: 'u64', value: 1 },
      },
    })),
  ],
};

describe('shm_dump --catalogue', function () {
  this.slow(15_000);
  const { programs, dump, run } = dumps();
  /** The server key of each application for which a draft is made. */
  const APPS = { ads: 'ads', plant: 'plant', shop: 'odd' };
  /** The URL of an exporter that uses the draft of each of these applications. */
  let url: string;
  before(async () => {
    for (const app of ['ads', 'plant'])
      programs.simulate('--app', app, '--server-key', app, '--objects', '60', '--rate', '0');
    programs.publish(ODD_SHOP);
    const files = Object.values(APPS).map((key) => {
      const { status, stdout, stderr } = dump('--server-key', key, '--catalogue');
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      return programs.write(`${key}.toml`, stdout);
    });
    const targets = Object.entries(APPS).map(
      ([app, key]) => `[[targets]]\napp = "${app}"\nserver_key = "${key}"\n`,
    );
    const config = programs.config({ catalogue_files: files }, targets.join(''));
    const exporter = programs.start('exporter', ['--config', config]);
    url = await exporter.url();
  });
  const pageOf = async (app: keyof typeof APPS): Promise<string> =>
    applicationPart(await readyPage(`${url}?server_key=${APPS[app]}`));

  for (const app of ['ads', 'plant'] as const)
    it(`drafts a catalogue for ${app} whose page promtool accepts`, async function () {
      needsPrograms(this, 'promtool');
      const page = await pageOf(app);
      expect(samplesOf(page).length).to.be.above(100);
      expect(promtoolLines(page)).to.deep.equal([]);
    });

  it('converts units, turns differing path segments into labels, and numbers equal metric names', async () => {
    const page = await pageOf('shop');
    const series = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const ofTill1 = series.filter((line) => line.includes('till="till1"'));
    expect(ofTill1.map((line) => line.replace('till="till1"', 'T'))).to.have.members([
      'shop_till_sent_bytes_total{T} 5',
      'shop_till_sent_2_bytes_total{T} 7',
      'shop_till_sales_total{T,number="80"} 3',
      'shop_till_sales_total{T,number="81"} 4',
      'shop_till_wait_seconds{T} 0.25',
      'shop_till_used_ratio{T} 0.4',
      'shop_till_wait_2_seconds_bucket{T,le="0.1"} 1',
      'shop_till_wait_2_seconds_bucket{T,le="+Inf"} 2',
      'shop_till_wait_2_seconds_sum{T} 0.3',
      'shop_till_wait_2_seconds_count{T} 2',
    ]);
    expect(page).to.match(/^shop_opened_seconds 17676000?00$/m);
    expect(page).to.match(/^shop_info\{login="jane",turn="x"\} 1$/m);
    if (isInstalled('promtool')) expect(promtoolLines(page)).to.deep.equal([]);
  });

  it('marks each guess, and lists omitted items', () => {
    const { stdout } = run('--server-key', 'odd', '--catalogue');
    const lines = stdout.split('\n');
    const before = (text: string) => lines[lines.findIndex((line) => line.includes(text)) - 1];
    expect(before('var = "bytesSent"')).to.equal(
      '  # guessed: a counter, judging by its name; bytes, judging by its name; the help',
    );
    expect(before('paths = ["floor')).to.equal('# guessed: label till for "till1", "till2"');
    expect(before('type = "info"')).to.equal(
      '  # guessed: string values that rarely change; personal data, as their names suggest; the help',
    );
    expect(before('var = "wait"')).to.equal('  # guessed: seconds, converted from ms, as declared');
    expect(stdout).to.match(/\n# Left out: 2 objects and variables that /);
  });

  it('drafts a catalogue for all roots of one application, and names the roots of other applications', () => {
    const root = (id: string, name: string) => [
      { id, class: 'Root', variables: { [name]: { type: 'u64', value: 1 } } },
    ];
    programs.publish({
      server_key: 'several',
      objects: [
        ...root('h.1.shop', 'first'),
        ...root('h.2.shop', 'second'),
        ...root('h.1.bank', 'third'),
      ],
    });
    const { stdout } = dump('--server-key', 'several', '--catalogue');
    expect(stdout).to.match(
      /^# A catalogue that shm_dump drafted for h\.1\.shop and 1 more root in segment /,
    );
    expect(stdout).to.include('var = "first"').and.include('var = "second"');
    expect(stdout).not.to.include('third').and.not.include('Left out');
    expect(stdout).to.include(
      '\n# Not drafted, since a catalogue is for one application: h.1.bank. --object ID drafts one of them.\n',
    );
    const other = dump('--server-key', 'several', '--catalogue', '--object', 'h.1.bank').stdout;
    expect(other).to.include('app = "bank"').and.include('var = "third"');
  });
});
