import { expect } from 'chai';
import { statusOf } from '#app/license/license.js';
import type { License } from '#app/license/license.js';
import { watchLicense } from '#app/license/license-watch.js';
import { marbles } from '../support/marbles.js';

const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(hours * HOUR_MS);

/** Virtual time begins in 1970, and so does this license; it expires two hours later. */
const known: License = {
  id: 'old',
  licensee: 'A',
  keyId: 'vendor',
  issuedAt: at(-1),
  expiresAt: at(2),
};
const renewed: License = { ...known, id: 'new', expiresAt: at(1000) };
const keep = () => known;
const lose = () => {
  throw new Error('License file l.json cannot be read: no such file or folder');
};
const warned = (hour: number, warning: string) => ({ ...statusOf(known, at(hour)), warning });
const lost = (hour: number) => ({
  ...warned(
    hour,
    'License file l.json cannot be read: no such file or folder; a start would be refused now',
  ),
  standing: 'invalid',
});
const VALID = statusOf(known, at(0));

/** Loads as these do, one a check, and like the last of them from then on. */
function loader(...loads: readonly [() => License, ...(() => License)[]]) {
  let calls = 0;
  const load = () => (loads[Math.min(calls++, loads.length - 1)] ?? loads[0])();
  return { load, calls: () => calls };
}

describe('watchLicense', () => {
  it(
    'says at once how the license stands, and is silent while nothing changes',
    marbles(({ expectObservable, flush }) => {
      const { load, calls } = loader(keep);
      const unsubscribed = '119s !';
      expectObservable(watchLicense(known, load), unsubscribed).toBe('v', { v: VALID });
      flush();
      expect(calls()).to.equal(1);
    }),
  );

  it(
    'counts the hours of grace down and goes on after them (spec 5.1)',
    marbles(({ expectObservable }) => {
      const report$ = watchLicense(known, keep, 12 * HOUR_MS);
      const reports = '    v 719m 59s 999ms a 719m 59s 999ms b 719m 59s 999ms c 719m 59s 999ms d';
      const unsubscribed = '6000m !';
      expectObservable(report$, unsubscribed).toBe(reports, {
        v: VALID,
        a: warned(12, 'license old expired at 1970-01-01T02:00:00Z; grace ends in 26 h'),
        b: warned(24, 'license old expired at 1970-01-01T02:00:00Z; grace ends in 14 h'),
        c: warned(36, 'license old expired at 1970-01-01T02:00:00Z; grace ends in 2 h'),
        d: warned(
          48,
          'license old expired at 1970-01-01T02:00:00Z; ' +
            'its grace of 36 h ended at 1970-01-02T14:00:00Z; a start would be refused now',
        ),
      });
    }),
  );

  it(
    'warns of a file that vanished, once, and is glad when it is back',
    marbles(({ expectObservable }) => {
      const { load } = loader(lose, lose, keep);
      const reports = '     v 999ms w 1s 999ms v';
      const unsubscribed = '1m !';
      expectObservable(watchLicense(known, load, 1000), unsubscribed).toBe(reports, {
        v: VALID,
        w: lost(0),
      });
    }),
  );

  it(
    'says no more while its file is gone, however the license known last stands',
    marbles(({ expectObservable }) => {
      const reports = '     v 59s 999ms w';
      const unsubscribed = '1000m !';
      expectObservable(watchLicense(known, lose), unsubscribed).toBe(reports, {
        v: VALID,
        w: lost(1 / 60),
      });
    }),
  );

  it(
    'uses a renewed license within a minute',
    marbles(({ expectObservable }) => {
      const { load } = loader(() => renewed);
      const reports = '     v 59s 999ms n';
      const unsubscribed = '90s !';
      expectObservable(watchLicense(known, load), unsubscribed).toBe(reports, {
        v: VALID,
        n: statusOf(renewed, at(1 / 60)),
      });
    }),
  );

  it(
    'takes up a renewed license',
    marbles(({ expectObservable }) => {
      const { load } = loader(() => renewed);
      const reports = '     v 999ms n';
      const unsubscribed = '1m !';
      expectObservable(watchLicense(known, load, 1000), unsubscribed).toBe(reports, {
        v: VALID,
        n: statusOf(renewed, at(0)),
      });
    }),
  );

  it(
    'warns of a renewed license that has not begun',
    marbles(({ expectObservable }) => {
      const early = { ...renewed, issuedAt: at(900) };
      const reports = '     v 999ms e';
      const unsubscribed = '1m !';
      expectObservable(
        watchLicense(known, () => early, 1000),
        unsubscribed,
      ).toBe(reports, {
        v: VALID,
        e: {
          ...statusOf(early, at(0)),
          warning:
            'license new is not valid before 1970-02-07T12:00:00Z; a start would be refused now',
        },
      });
    }),
  );

  const periods = [
    ['0 ms', 0, '999ms !', '1001ms !'],
    ['a month', 31 * 24 * HOUR_MS, '1439m !', '1441m !'],
  ] as const;
  for (const [name, everyMs, before, after] of periods)
    it(
      `holds a period of ${name} between a second and a day`,
      marbles(({ expectObservable, flush }) => {
        const early = loader(keep);
        const due = loader(keep);
        expectObservable(watchLicense(known, early.load, everyMs), before);
        expectObservable(watchLicense(known, due.load, everyMs), after);
        flush();
        expect([early.calls(), due.calls()]).to.deep.equal([0, 1]);
      }),
    );

  it(
    'checks no more once nobody listens',
    marbles(({ expectObservable, flush }) => {
      const { load, calls } = loader(keep);
      const unsubscribed = '2s 500ms !';
      expectObservable(watchLicense(known, load, 1000), unsubscribed).toBe('v', { v: VALID });
      flush();
      expect(calls()).to.equal(2);
    }),
  );
});
