// Property tests: reading damaged shared memory of Varnish takes bounded time and never mixes up values and names.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import type { VarnishPoller } from '#app/varnish/varnish-poller.js';
import { pollAll } from '../support/polled-values.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { DamagedVarnish, NUMBERS } from './damaged-varnish.js';
import type { Damage } from './damaged-varnish.js';

const place = { file: fc.nat(63), at: fc.nat(65_535) };
const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant('byte' as const), ...place, byte: fc.nat(255) }),
  fc.record({ kind: fc.constant('number' as const), ...place, value: fc.constantFrom(...NUMBERS) }),
  fc.record({ kind: fc.constant('cut' as const), ...place }),
  fc.record({ kind: fc.constant('lines' as const), ...place, to: fc.nat(63) }),
);
const damages = fc.array(damage, { minLength: 1, maxLength: 4 });
const RUNS = 200;

describe('A damaged instance of Varnish', function () {
  this.slow(10_000);
  const folder = temporaryFolder();
  let varnish: DamagedVarnish;
  const pollers = new Set<VarnishPoller>();
  beforeEach(() => (varnish = new DamagedVarnish(folder.path())));
  afterEach(() => {
    for (const poller of pollers) poller.close();
    pollers.clear();
  });

  function openPoller(): VarnishPoller {
    const poller = varnish.poller();
    pollers.add(poller);
    return poller;
  }

  /** Counts the correct values of two copies: one right after a poll, and one without a new poll. */
  function countCorrect(poller: VarnishPoller): number {
    const seen = pollAll(poller);
    const judged = [varnish.judge(seen), varnish.judge(seen)];
    expect(judged.flatMap(({ wrong }) => wrong)).to.deep.equal([]);
    return judged.reduce((sum, { right }) => sum + right, 0);
  }

  it('has only correct values under correct names, if it is damaged before it is read', () => {
    fc.assert(
      fc.property(damages, (each) => {
        varnish.restore();
        varnish.damage(each);
        const poller = varnish.poller();
        countCorrect(poller);
        poller.close();
      }),
      { numRuns: RUNS },
    );
    varnish.restore();
    expect(countCorrect(openPoller())).to.equal(2 * varnish.size);
  });

  it('has only correct values under correct names, if it is damaged while it is read', () => {
    const poller = openPoller();
    fc.assert(
      fc.property(damages, (each) => {
        varnish.restore();
        const before = pollAll(poller);
        varnish.damage(each);
        expect(varnish.judge(before).wrong).to.deep.equal([]);
        countCorrect(poller);
      }),
      { numRuns: RUNS },
    );
    varnish.restore();
    pollAll(poller);
    expect(countCorrect(poller)).to.equal(2 * varnish.size);
  });

  it('has only correct values under correct names, if any file is truncated at any length', () => {
    for (const { path, bytes } of varnish.files)
      for (let length = 0; length <= bytes.length; length += 7) {
        truncateSync(path, length);
        const poller = varnish.poller();
        countCorrect(poller);
        poller.close();
        writeFileSync(path, bytes);
      }
  });

  it('is not modified', () => {
    countCorrect(openPoller());
    for (const { path, bytes } of varnish.files)
      expect(readFileSync(path).equals(bytes)).to.equal(true);
  });
});
