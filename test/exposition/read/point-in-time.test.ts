// PointInTime reads times from texts that state an offset, or are in the time zone of their publisher.
import { expect } from 'chai';
import { PointInTime } from '#app/exposition/read/time.js';
import { FakeSource } from '../../support/fake-source.js';
import { shopCatalogue, testView } from '../test-view.js';

const at = (iso: string): number => Date.parse(iso) / 1000;

describe('the time text', () => {
  const times = new PointInTime('');
  const local = new Date(2026, 10, 19, 8, 0, 0).getTime() / 1000;
  const texts: readonly (readonly [string, number | undefined])[] = [
    ['Thu Nov 19 08:00:00 2026', local],
    [' Thu Nov 19 08:00:00 2026\n', local],
    ['2026-11-19T08:00:00Z', 1_795_075_200],
    ['2026-11-19T08:00:00.250+01:00', 1_795_071_600.25],
    ['1795075200', 1_795_075_200],
    ['1795075200.5', 1_795_075_200.5],
    ['', undefined],
    ['2026', undefined],
    ['version-12', undefined],
    ['2026-11-19', undefined],
    ['12:30', undefined],
    ['Thu Foo 99 88:00:00 2026', undefined],
    ['November 19, 2026 08:00:00', local],
    ['19 nov 2026 08:00', local],
    ['2026/11/19 08:00:00', local],
    // In these formats either number may be the day, so no time is shown.
    ['03/04/2026 08:00:00', undefined],
    ['11/19/2026 08:00:00', undefined],
    ['19.11.2026 08:00:00', undefined],
    ['03-04-2026 08:00:00', undefined],
    ['03.04.2026, 08:00 UTC', undefined],
    ['build 7 of 2026 08:00', undefined],
  ];
  for (const [text, seconds] of texts)
    it(`${JSON.stringify(text)} has ${seconds === undefined ? 'no Unix time' : `the Unix time ${seconds}`}`, () =>
      expect(times.unixSeconds(text)).to.equal(seconds));
});

describe('the time text of a publisher', () => {
  const zones: readonly (readonly [zone: string, text: string, iso: string | undefined])[] = [
    ['America/New_York', 'Thu Nov 19 08:00:00 2026', '2026-11-19T13:00:00Z'],
    ['America/New_York', 'Sun Jul 19 08:00:00 2026', '2026-07-19T12:00:00Z'],
    ['Asia/Kolkata', '2026-11-19T08:00:00', '2026-11-19T02:30:00Z'],
    ['Asia/Kolkata', '2026-11-19T08:00:00.5', '2026-11-19T02:30:00.500Z'],
    ['Asia/Kolkata', '2026-11-19 08:00:00', '2026-11-19T02:30:00Z'],
    ['Asia/Kolkata', 'Nov 19 2026 8:00 PM', '2026-11-19T14:30:00Z'],
    ['Asia/Kolkata', '19-Nov-2026 08:00:00', '2026-11-19T02:30:00Z'],
    ['Pacific/Kiritimati', 'Thu Jan 1 00:00:00 2026', '2025-12-31T10:00:00Z'],
    ['Pacific/Pago_Pago', 'Wed Dec 31 23:59:59 2025', '2026-01-01T10:59:59Z'],
    ['UTC', 'Thu Nov 19 08:00:00 2026', '2026-11-19T08:00:00Z'],
    // Texts that state an offset.
    ['Asia/Kolkata', '2026-11-19T08:00:00Z', '2026-11-19T08:00:00Z'],
    ['Asia/Kolkata', '2026-11-19T08:00:00-05:00', '2026-11-19T13:00:00Z'],
    ['Asia/Kolkata', '2026-11-19 08:00:00+0100', '2026-11-19T07:00:00Z'],
    ['Asia/Kolkata', 'Thu, 19 Nov 2026 08:00:00 -0500', '2026-11-19T13:00:00Z'],
    ['Asia/Kolkata', 'Thu Nov 19 08:00:00 2026 +0100', '2026-11-19T07:00:00Z'],
    ['Asia/Kolkata', 'Thu Nov 19 08:00:00 EST 2026', '2026-11-19T13:00:00Z'],
    ['Asia/Kolkata', 'Thu Nov 19 08:00:00 UTC 2026', '2026-11-19T08:00:00Z'],
    ['Asia/Kolkata', 'Thu Nov 19 2026 08:00:00 GMT+0100', '2026-11-19T07:00:00Z'],
    ['Asia/Kolkata', '1795075200', '2026-11-19T08:00:00Z'],
    // A local time that is skipped, such as 02:30 when 02:00 becomes 03:00, gets the offset before the
    // change.
    ['Europe/Berlin', 'Sun Mar 29 01:59:59 2026', '2026-03-29T00:59:59Z'],
    ['Europe/Berlin', 'Sun Mar 29 02:30:00 2026', '2026-03-29T01:30:00Z'],
    ['Europe/Berlin', 'Sun Mar 29 03:00:00 2026', '2026-03-29T01:00:00Z'],
    // A local time that occurs twice, such as 02:30 when 03:00 becomes 02:00, means the first occurrence.
    ['Europe/Berlin', 'Sun Oct 25 01:59:59 2026', '2026-10-24T23:59:59Z'],
    ['Europe/Berlin', 'Sun Oct 25 02:30:00 2026', '2026-10-25T00:30:00Z'],
    ['Europe/Berlin', 'Sun Oct 25 03:00:00 2026', '2026-10-25T02:00:00Z'],
    ['Australia/Lord_Howe', 'Sun Apr 5 01:45:00 2026', '2026-04-04T14:45:00Z'],
    // Invalid and hostile texts.
    ['Europe/Berlin', 'Thu Foo 99 88:00:00 2026', undefined],
    ['Europe/Berlin', '+275760-09-13T00:00:00', undefined],
    ['Europe/Berlin', '-271821-04-20T00:00:00', undefined],
    ['Europe/Berlin', '1234 1:00 '.repeat(2000), undefined],
  ];
  for (const [zone, text, iso] of zones)
    it(`${JSON.stringify(text.slice(0, 40))} in the zone ${zone} means ${iso ?? 'no time'}`, () =>
      expect(new PointInTime(zone).unixSeconds(text)).to.equal(iso && at(iso)));

  it('means the time that JavaScript reads in it if publisher and exporter are in the same zone', () => {
    const here = new PointInTime(Intl.DateTimeFormat().resolvedOptions().timeZone);
    for (let hour = 0; hour < 24 * 366; hour += 5) {
      const text = `2027-01-01T00:00:00`;
      const wall = new Date(Date.parse(`${text}Z`) + hour * 3_600_000).toISOString().slice(0, 19);
      expect(here.unixSeconds(wall), wall).to.equal(at(wall));
    }
  });

  it('is read in the time zone of its own target', () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    source.addVariable(root, 't', { type: 'string', value: 'Thu Nov 19 08:00:00 2026' });
    const row =
      '{ name = "shop_start_seconds", type = "gauge", help = "Help.", var = "t", conv = "timestamp" }';
    const shownIn = (timeZone: string) =>
      testView(source, root, { catalogue: shopCatalogue(row), timeZone }).lines();
    expect(shownIn('Asia/Tokyo')).to.deep.equal([
      `shop_start_seconds ${at('2026-11-18T23:00:00Z')}`,
    ]);
    expect(shownIn('America/New_York')).to.deep.equal([
      `shop_start_seconds ${at('2026-11-19T13:00:00Z')}`,
    ]);
  });
});
