// Tests the time zone of a publisher, as set for its target or for the exporter.
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { TIME_CATALOGUE, targets } from '../specification/shop.js';
import { SPECIFIED_MODE as worker_execution_mode } from '../support/modes.js';
import { needs } from '../support/needs.js';
import { testPrograms } from '../support/processes.js';
import { readyPage, seriesOf } from './page.js';

describe('publisher_time_zone', function () {
  this.slow(3000);
  const programs = testPrograms();
  const times = {
    1: 'Thu Nov 19 08:00:00 2026',
    2: 'Thu Nov 19 08:00:00 2026',
    3: 'Wed Jul 15 12:00:00 2026',
  };
  const zoned = (tz: string, ...args: readonly string[]) => {
    const catalogue_files = [programs.write('shop.toml', TIME_CATALOGUE)];
    const tables = targets(
      { app: 'shop', server_key: '1', publisher_time_zone: 'America/New_York' },
      { app: 'shop', server_key: '2', publisher_time_zone: 'Asia/Tokyo' },
      { app: 'shop', server_key: '3' },
    );
    const path = programs.config({ catalogue_files, worker_execution_mode }, tables);
    return programs.start('exporter', ['--config', path, ...args], { under: ['env', `TZ=${tz}`] });
  };
  let startOf: (key: string) => Promise<number>;

  before(async () => {
    for (const [key, value] of Object.entries(times))
      programs.publish({
        server_key: key,
        objects: [
          {
            id: `h.${key}.shop`,
            class: 'Shop',
            variables: { time: { type: 'string', value } },
          },
        ],
      });
    const url = await zoned('CET-1CEST,M3.5.0,M10.5.0/3').url();
    startOf = async (key) =>
      Number(seriesOf(await readyPage(`${url}?server_key=${key}`)).get('shop_start_seconds{}'));
  });

  it('in a [[targets]] table applies only to the target of the table', async () => {
    expect(await startOf('1')).to.equal(Date.UTC(2026, 10, 19, 13) / 1000);
    expect(await startOf('2')).to.equal(Date.UTC(2026, 10, 18, 23) / 1000);
  });

  it('defaults to the zone in TZ, and follows the daylight saving time of a POSIX rule', async function () {
    needs(this, existsSync('/usr/share/zoneinfo'), 'this machine has no /usr/share/zoneinfo');
    expect(await startOf('3')).to.equal(Date.UTC(2026, 6, 15, 10) / 1000);
  });

  it('causes a warning if it is not set and TZ names no zone', async () => {
    const checked = zoned('Europe/Nowhere', '--check-config');
    await checked.ended;
    expect(checked.stdout).to.match(
      /^warning: the environment variable TZ is "Europe\/Nowhere", .*: times that shop writes /,
    );
  });
});
