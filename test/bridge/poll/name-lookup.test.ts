// Tests lookups of host names that hang or fail, and lookups of other names at the same time.
import { expect } from 'chai';
import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import { NameLookup } from '#app/bridge/poll/name-lookup.js';
import type { Resolve } from '#app/bridge/poll/name-lookup.js';
import { delay, waitFor } from '../../support/processes.js';

const AT: LookupAddress[] = [{ address: '127.0.0.7', family: 4 }];
const ELSEWHERE: LookupAddress[] = [{ address: '127.0.0.8', family: 4 }];
const failed = (code: string) => Object.assign(new Error(code), { code });

/** A resolver that the test answers manually, in any order. */
function resolver() {
  const asked: { readonly name: string; readonly found: Parameters<Resolve>[1] }[] = [];
  const names = new NameLookup((name, found) => asked.push({ name, found }));
  const ask = (name: string) => {
    const answers: string[] = [];
    names.lookup(name, { all: true }, (error, addresses) => {
      const result = Array.isArray(addresses) ? addresses.map(({ address }) => address).join() : '';
      answers.push(error?.message ?? result);
    });
    return answers;
  };
  const take = (name: string) => {
    const index = asked.findIndex((each) => each.name === name);
    const [each] = index < 0 ? [] : asked.splice(index, 1);
    if (each === undefined) throw new Error(`${name} is not under way`);
    return each.found;
  };
  return { ask, take, underWay: () => asked.map(({ name }) => name) };
}

describe('A name lookup', () => {
  it('returns the first address or all addresses of the system resolver, as requested', async () => {
    const { lookup } = new NameLookup();
    const seen: unknown[] = [];
    const record = (...result: readonly unknown[]) => void seen.push(result);
    lookup('localhost', {}, record);
    lookup('localhost', { all: true }, record);
    const wanted = await new Promise<LookupAddress[]>((resolve) => {
      systemLookup('localhost', { all: true }, (_, addresses) => {
        resolve(addresses);
      });
    });
    await waitFor('both', () => seen.length === 2 || undefined);
    expect(seen).to.deep.equal([
      [null, wanted[0]?.address, wanted[0]?.family],
      [null, wanted],
    ]);
  });

  it('shares one lookup between concurrent requests, and starts a new one for a later request', () => {
    const { ask, take, underWay } = resolver();
    const both = [ask('a'), ask('a')];
    expect(underWay()).to.deep.equal(['a']);
    take('a')(null, AT);
    expect(both).to.deep.equal([['127.0.0.7'], ['127.0.0.7']]);
    ask('a');
    expect(underWay()).to.deep.equal(['a']);
  });

  it('returns the result of each name at once, while other lookups hang', () => {
    const { ask, take, underWay } = resolver();
    const answers = ['a', 'b', 'c'].map(ask);
    ask('a');
    expect(underWay()).to.deep.equal(['a', 'b', 'c']);
    take('c')(null, AT);
    take('b')(failed('ENOTFOUND'), []);
    expect(answers).to.deep.equal([[], ['ENOTFOUND'], ['127.0.0.7']]);
  });

  it('returns the previous address during a slow lookup, and the new address after it', async () => {
    const { ask, take } = resolver();
    ask('a');
    take('a')(null, AT);
    const late = ask('a');
    await waitFor('the former address', () => late[0]);
    take('a')(null, ELSEWHERE);
    expect(late).to.deep.equal(['127.0.0.7']);
    const next = ask('a');
    await waitFor('the later address', () => next[0]);
    expect(next).to.deep.equal(['127.0.0.8']);
  });

  it('forgets the previous address when the name no longer exists', async () => {
    const { ask, take } = resolver();
    ask('a');
    take('a')(null, AT);
    const late = ask('a');
    await waitFor('the former address', () => late[0]);
    take('a')(failed('ENOTFOUND'), []);
    const next = ask('a');
    await delay(100);
    expect(next, 'not at its former address').to.deep.equal([]);
    take('a')(failed('ENOTFOUND'), []);
    expect(next).to.deep.equal(['ENOTFOUND']);
  });

  it('waits for a slow lookup of a name without a previous address', async () => {
    const { ask, take } = resolver();
    const first = ask('a');
    await delay(100);
    expect(first).to.deep.equal([]);
    take('a')(null, AT);
    expect(first).to.deep.equal(['127.0.0.7']);
  });

  it('reports a name that no longer exists, but uses the previous address when no name server answers', () => {
    const { ask, take } = resolver();
    ask('a');
    take('a')(null, AT);
    const asked = ask('a');
    take('a')(failed('EAI_AGAIN'), []);
    const again = ask('a');
    take('a')(failed('ENOTFOUND'), []);
    const unknown = ask('b');
    take('b')(failed('EAI_AGAIN'), []);
    expect([asked, again, unknown]).to.deep.equal([['127.0.0.7'], ['ENOTFOUND'], ['EAI_AGAIN']]);
  });
});
