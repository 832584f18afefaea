// Tests which time zone each form of TZ denotes, and the warnings about unknown zones.
import { expect } from 'chai';
import { copyFileSync, existsSync, symlinkSync } from 'node:fs';
import { loadConfig } from '#app/config/resolve.js';
import { planTargets } from '#app/exporter/plan.js';
import { setProcessZone, zoneOf, zoneWarnings } from '#app/exporter/process-zone.js';
import { TIME_CATALOGUE } from '../specification/shop.js';
import { needs } from '../support/needs.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const TOKYO = '/usr/share/zoneinfo/Asia/Tokyo';
describe('the time zone in TZ', () => {
  const folder = temporaryFolder();

  for (const tz of ['Asia/Tokyo', ':Asia/Tokyo', TOKYO, `:${TOKYO}`, 'JST-9'])
    it(`is Tokyo's if TZ is "${tz}"`, function () {
      needs(this, existsSync(TOKYO), 'this machine has no /usr/share/zoneinfo');
      const environment = { TZ: tz };
      setProcessZone(environment);
      expect(environment.TZ).to.equal('Asia/Tokyo');
    });

  for (const [how, make] of [
    ['copy of', copyFileSync],
    ['link to', symlinkSync],
  ] as const)
    it(`is Tokyo's if TZ is the path of a ${how} Tokyo's zone file`, function () {
      needs(this, existsSync(TOKYO), 'this machine has no /usr/share/zoneinfo');
      make(TOKYO, folder.path('zone'));
      expect(zoneOf(`:${folder.path('zone')}`)).to.equal('Asia/Tokyo');
    });

  const warningsFor = (tz: string, zone: string) => {
    folder.write('shop.toml', TIME_CATALOGUE);
    const target = `[[targets]]\napp = "shop"\nserver_key = "1"\npublisher_time_zone = "${zone}"\n`;
    const configFile = folder.write('c.toml', `catalogue_files = ["shop.toml"]\n${target}`);
    return zoneWarnings(planTargets(loadConfig({ configFile, overrides: {} })), tz);
  };

  for (const tz of ['Europe/Nowhere', ':/etc/nowhere'])
    it(`causes a warning if a target sets no zone and TZ is "${tz}", which names no zone`, () =>
      expect(warningsFor(tz, '')).to.deep.equal([
        `the environment variable TZ is "${tz}", which is not the name of a time zone that Node.js knows: ` +
          'times that shop writes without an offset may be wrong by hours; ' +
          'set publisher_time_zone, or TZ to a name such as Europe/London',
      ]));

  it('causes no warning if every target sets its time zone', () =>
    expect(warningsFor('Europe/Nowhere', 'Asia/Tokyo')).to.deep.equal([]));
});
