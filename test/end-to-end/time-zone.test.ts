// The time zone of a publisher, in each place where it can be configured.
import { copyFileSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { targets } from '../specification/shop.js';
import { needs } from '../support/needs.js';
import { testPrograms } from '../support/processes.js';
import { readyPage, seriesOf } from './page.js';

const CATALOGUE = `app = "shop"
[[classes]]
alias = "shop"
class_ids = ["Shop"]
paths = ["@root"]
metrics = [{ name = "shop_start_seconds", type = "gauge", help = "Help.", var = "time", conv = "timestamp" }]
`;
const TOKYO = '/usr/share/zoneinfo/Asia/Tokyo';
const EIGHT_IN = {
  'Asia/Tokyo': Date.UTC(2026, 10, 18, 23) / 1000,
  'America/New_York': Date.UTC(2026, 10, 19, 13) / 1000,
} as const;

describe('publisher_time_zone', function () {
  this.slow(3000);
  const programs = testPrograms();
  let settings: Readonly<Record<string, unknown>> = {};

  before(() => {
    settings = { catalogue_files: [programs.write('shop.toml', CATALOGUE)] };
    const time = { type: 'string', value: 'Thu Nov 19 08:00:00 2026' };
    for (const key of ['1', '2'])
      programs.publish({
        server_key: key,
        objects: [{ id: `h.${key}.shop`, class: 'Shop', variables: { time } }],
      });
  });

  const startOf = async (url: string, key: string): Promise<number> =>
    Number(seriesOf(await readyPage(`${url}?server_key=${key}`)).get('shop_start_seconds{}'));

  it('at the top level applies to the single target', async () => {
    const single = { ...settings, app: 'shop', server_keys: ['1'] };
    const exporter = programs.exporter({ ...single, publisher_time_zone: 'Asia/Tokyo' });
    expect(await startOf(await exporter.url(), '1')).to.equal(EIGHT_IN['Asia/Tokyo']);
  });

  for (const worker_execution_mode of ['logical', 'threaded'])
    it(`in a [[targets]] table applies only to the target of the table (${worker_execution_mode} mode)`, async () => {
      const tables = targets(
        { app: 'shop', server_key: '1', publisher_time_zone: 'America/New_York' },
        { app: 'shop', server_key: '2', publisher_time_zone: 'Asia/Tokyo' },
      );
      const config = programs.config({ ...settings, worker_execution_mode }, tables);
      const url = await programs.start('exporter', ['--config', config]).url();
      expect(await startOf(url, '1')).to.equal(EIGHT_IN['America/New_York']);
      expect(await startOf(url, '2')).to.equal(EIGHT_IN['Asia/Tokyo']);
    });

  it('can be set in the legacy target file', async () => {
    const line = 'target app=shop server_key=2 publisher_time_zone=America/New_York\n';
    const legacy = programs.write('targets.txt', line);
    const url = await programs.exporter(settings, '--targets-config', legacy).url();
    expect(await startOf(url, '2')).to.equal(EIGHT_IN['America/New_York']);
  });

  const zoned = (tz: string, ...args: readonly string[]) => {
    const path = programs.config({ ...settings, app: 'shop', server_keys: ['1'] });
    return programs.start('exporter', ['--config', path, ...args], { under: ['env', `TZ=${tz}`] });
  };
  const forms = [
    'Asia/Tokyo',
    ':Asia/Tokyo',
    '/usr/share/zoneinfo/Asia/Tokyo',
    ':/usr/share/zoneinfo/Asia/Tokyo',
    'JST-9',
    'a path to a copy of a zone file',
    'a path to a link to a zone file',
  ];
  for (const form of forms)
    it(`defaults to the zone in TZ if TZ is ${form.startsWith('a path') ? form : `"${form}"`}`, async function () {
      needs(this, existsSync(TOKYO), 'this machine has no /usr/share/zoneinfo');
      const file = programs.path('zone');
      rmSync(file, { force: true });
      if (form.includes('copy')) copyFileSync(TOKYO, file);
      else symlinkSync(TOKYO, file);
      const exporter = zoned(form.startsWith('a ') ? `:${file}` : form);
      expect(await startOf(await exporter.url(), '1')).to.equal(EIGHT_IN['Asia/Tokyo']);
      expect(exporter.stderr).not.to.contain('TZ');
      await exporter.stop();
    });

  it('follows the daylight saving time of a POSIX rule in TZ', async function () {
    needs(this, existsSync(TOKYO), 'this machine has no /usr/share/zoneinfo');
    const time = { type: 'string', value: 'Wed Jul 15 12:00:00 2026' };
    programs.publish({
      server_key: '3',
      objects: [{ id: 'h.3.shop', class: 'Shop', variables: { time } }],
    });
    const exporter = zoned('CET-1CEST,M3.5.0,M10.5.0/3', '--server-key', '3');
    expect(await startOf(await exporter.url(), '3')).to.equal(Date.UTC(2026, 6, 15, 10) / 1000);
    await exporter.stop();
  });

  for (const tz of ['Europe/Nowhere', ':/etc/nowhere'])
    it(`causes a warning if it is not set and TZ is "${tz}", which names no zone`, async () => {
      const said =
        `the environment variable TZ is "${tz}", which is not the name of a time zone that Node.js knows: ` +
        'times that shop writes without an offset may be read hours off';
      const checked = zoned(tz, '--check-config');
      await checked.ended;
      expect(checked.stdout).to.contain(`warning: ${said}`);
    });

  it('causes no warning about TZ if every target sets its time zone', async () => {
    const path = programs.config(
      { ...settings },
      targets({ app: 'shop', server_key: '1', publisher_time_zone: 'Asia/Tokyo' }),
    );
    const args = ['--config', path, '--check-config'];
    const checked = programs.start('exporter', args, { under: ['env', 'TZ=Europe/Nowhere'] });
    await checked.ended;
    expect(checked.stdout).not.to.contain('TZ');
  });

  it('with a misspelt zone ends the start and suggests the nearest known zone', () => {
    const config = programs.config({ ...settings, publisher_time_zone: 'Asia/Tokio' });
    const { status, stderr } = programs.run('exporter', '--config', config);
    expect(status).to.equal(2);
    expect(stderr).to.contain('found "Asia/Tokio"').and.contain('(did you mean "Asia/Tokyo"?)');
  });
});
