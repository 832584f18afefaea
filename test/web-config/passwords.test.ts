// Basic authentication: password checks, their cost and their cache.
import { hashSync } from 'bcryptjs';
import { expect } from 'chai';
import fc from 'fast-check';
import { NEVER, Subject, firstValueFrom, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { Passwords, tokenBucket } from '#app/web-config/passwords.js';
import type { PasswordVerdict } from '#app/web-config/passwords.js';
import { passwordThread } from '#app/web-config/threads/compare-in-thread.js';
import { follow } from '../support/follow.js';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('Passwords', () => {
  const users = new Map([['alice', 'hash of s:cret']]);
  /** Compares passwords as bcrypt would, and counts the comparisons. */
  const counting = () => {
    const compared: string[] = [];
    const passwords = new Passwords((password, hash) => {
      compared.push(password);
      return of(hash === `hash of ${password}`);
    });
    const verdict = (header: string | undefined, whose: ReadonlyMap<string, string> = users) =>
      follow(passwords.check(header, whose)).seen[0];
    return { compared, verdict };
  };

  const table: readonly (readonly [
    what: string,
    header: string | undefined,
    verdict: PasswordVerdict,
  ])[] = [
    ['a correct name and password', basic('alice:s:cret'), 'admitted'],
    ['a scheme in lower case', basic('alice:s:cret').replace('Basic', 'basic'), 'admitted'],
    ['a wrong password', basic('alice:other'), 'refused'],
    ['an unknown name', basic('bob:s:cret'), 'refused'],
    ['an empty name', basic(':s:cret'), 'refused'],
    ['credentials without a colon', basic('alice'), 'refused'],
    ['a request without the header', undefined, 'refused'],
    ['another scheme', 'Bearer abc', 'refused'],
    ['credentials that are not base64', 'Basic %%%', 'refused'],
    ['a header of 5,000 characters', `Basic ${'A'.repeat(5000)}`, 'refused'],
  ];
  for (const [what, header, wanted] of table)
    it(`${wanted === 'admitted' ? 'admits' : 'refuses'} ${what}`, () =>
      expect(counting().verdict(header)).to.equal(wanted));

  it('compares each correct or wrong password once, and again when the hash changes', () => {
    const { compared, verdict } = counting();
    for (let i = 0; i < 3; i++) {
      expect(verdict(basic('alice:s:cret'))).to.equal('admitted');
      expect(verdict(basic('alice:wrong'))).to.equal('refused');
    }
    expect(compared).to.deep.equal(['s:cret', 'wrong']);
    const changed = new Map([['alice', 'hash of new']]);
    expect(verdict(basic('alice:s:cret'), changed)).to.equal('refused');
    expect(verdict(basic('alice:new'), changed)).to.equal('admitted');
  });

  it('compares the password of an unknown name with a dummy hash, so that a refusal takes as long as for a known name', () => {
    const { compared, verdict } = counting();
    verdict(basic('nobody:x'));
    expect(compared).to.deep.equal(['x']);
  });

  it('gives the dummy hash for unknown names the highest cost among the hashes of the users', () => {
    const hashes: string[] = [];
    const passwords = new Passwords((_password, hash) => {
      hashes.push(hash);
      return of(false);
    });
    const costly = new Map([
      ['alice', '$2y$10$abc'],
      ['bob', '$2y$12$abc'],
    ]);
    follow(passwords.check(basic('nobody:x'), costly));
    follow(passwords.check(basic('nobody:x'), users));
    expect(hashes.map((hash) => hash.slice(0, 7))).to.deep.equal(['$2b$12$', '$2b$10$']);
  });

  it('compares no password that it has admitted before, even after many wrong passwords', () => {
    const { compared, verdict } = counting();
    verdict(basic('alice:s:cret'));
    for (let i = 0; i < 2000; i++) verdict(basic(`alice:${i}`));
    const before = compared.length;
    expect(verdict(basic('alice:s:cret'))).to.equal('admitted');
    expect(compared.length).to.equal(before);
  });

  it('does not admit an unknown name with the password of the dummy hash', () => {
    const passwords = new Passwords(() => of(true));
    expect(follow(passwords.check(basic('nobody:x'), users)).seen).to.deep.equal(['refused']);
  });

  it('shares a comparison among concurrent equal requests, even if the first is cancelled', () => {
    let comparisons = 0;
    const answer$ = new Subject<boolean>();
    const passwords = new Passwords((): Observable<boolean> => {
      comparisons++;
      return answer$;
    });
    const ask = () => follow(passwords.check(basic('alice:x'), users));
    const [first, second] = [ask(), ask()];
    first.subscription.unsubscribe();
    answer$.next(true);
    answer$.complete();
    expect(second.seen).to.deep.equal(['admitted']);
    expect(comparisons).to.equal(1);
  });

  it('reports that it is busy when sixteen comparisons wait, and caches only the newest 128 wrong passwords', () => {
    const slow = new Passwords(() => NEVER);
    const verdicts = Array.from({ length: 18 }, (_, index) =>
      follow(slow.check(basic(`alice:${index}`), users)).seen.at(0),
    );
    expect(verdicts.slice(0, 16)).to.deep.equal(new Array(16).fill(undefined));
    expect(verdicts.slice(16)).to.deep.equal(['busy', 'busy']);

    const { compared, verdict } = counting();
    for (let i = 0; i <= 128; i++) verdict(basic(`alice:${i}`));
    verdict(basic('alice:128'));
    expect(compared).to.have.length(129);
    verdict(basic('alice:0'));
    expect(compared, 'the oldest was forgotten').to.have.length(130);
  });
});

describe('passwordThread', () => {
  it('accepts hashes of htpasswd with each of the three bcrypt prefixes', async () => {
    const { compare } = passwordThread();
    const hash = hashSync('s\u00e4cret', 4);
    for (const kind of ['$2a$', '$2b$', '$2y$']) {
      const named = hash.replace(/^\$2.\$/, kind);
      expect(
        await firstValueFrom(compare('s\u00e4cret', named), { defaultValue: undefined }),
        kind,
      ).to.equal(true);
      expect(
        await firstValueFrom(compare('secret', named), { defaultValue: undefined }),
        kind,
      ).to.equal(false);
    }
  });

  it('answers many concurrent requests', async () => {
    const { compare } = passwordThread();
    const hash = hashSync('7', 4);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        firstValueFrom(compare(String(index), hash), { defaultValue: undefined }),
      ),
    );
    expect(answers.flatMap((isSame, index) => (isSame ? [index] : []))).to.deep.equal([7]);
  });
});

// Tests tokenBucket, which limits the rate of requests.
describe('tokenBucket', () => {
  let nowMs = 0;
  const bucket = (intervalMs: number, burst: number) => tokenBucket(intervalMs, burst, () => nowMs);
  const takes = (from: () => boolean, count: number) => Array.from({ length: count }, () => from());

  it('admits a burst, then one request each interval', () => {
    const limited = bucket(100, 2);
    expect(takes(limited, 3)).to.deep.equal([true, true, false]);
    nowMs += 99;
    expect(limited()).to.equal(false);
    nowMs += 1;
    expect(takes(limited, 2)).to.deep.equal([true, false]);
  });

  it('fills up to no more than a burst, however long it is idle', () => {
    const limited = bucket(100, 2);
    takes(limited, 2);
    nowMs += 1e9;
    expect(takes(limited, 3)).to.deep.equal([true, true, false]);
  });

  it('admits all requests if the interval is 0', () =>
    expect(takes(bucket(0, 1), 100)).to.not.include(false));

  it('never admits more than the burst and the tokens of the elapsed time', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat({ max: 100 }), { maxLength: 100 }),
        (intervalMs, burst, waits) => {
          const startMs = nowMs;
          const limited = bucket(intervalMs, burst);
          let taken = 0;
          for (const wait of waits) {
            nowMs += wait;
            if (limited()) taken++;
          }
          const most = burst + (nowMs - startMs) / intervalMs;
          expect(taken).to.be.at.most(most + 1e-6);
        },
      ),
    ));
});
