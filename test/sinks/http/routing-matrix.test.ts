// Tests every combination of routing parameters for every set of targets in every state, over real segments
// and sockets.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { compileScope } from '#app/exposition/page/scope.js';
import { KeepAliveClient } from '../../support/keep-alive-client.js';
import type { RawAnswer } from '../../support/keep-alive-client.js';
import { wantedOf } from '../../support/routing-oracle.js';
import type { Asking, Configured, Scraped, Standing } from '../../support/routing-oracle.js';
import { RoutingTargets } from '../../support/routing-targets.js';

const target = (
  serverKey: string,
  root: string,
  { hint = '', serverKeys = [serverKey] }: Partial<Scraped> = {},
): Omit<Scraped, 'value'> => ({ app: root.slice(-3), serverKeys, hint, serverKey, root });

const SETS = {
  'one target': [target('82', 'H.1.ads')],
  'one target with several server keys': [
    target('456', 'a.b.1.ads', { serverKeys: ['82', '456', '999'] }),
  ],
  'several targets': [
    target('82', 'H.1.ads', { hint: 'H.1.ads' }),
    target('80', 'a.b.1.adh', { hint: '1' }),
    target('7', 'H.2.ats'),
  ],
  'several targets that share app and instance': [
    target('82', 'H.1.ads', { hint: 'H.1.ads' }),
    target('456', 'H.1.ads'),
    target('80', 'H.1.adh'),
  ],
  'several applications on one server key': [
    target('7', 'H.1.ads'),
    target('7', 'H.1.adh', { hint: 'H.1.adh' }),
  ],
  'several roots of one application on one server key': [
    target('5', 'H.1.ads', { hint: '1' }),
    target('5', 'H.2.ads', { hint: 'H.2.ads' }),
  ],
};

/** The state of the first target, and the state of all others. */
const STANDINGS: readonly (readonly [first: Standing, others: Standing])[] = [
  ['ready', 'ready'],
  ['syncing', 'syncing'],
  ['without a segment', 'without a segment'],
  ['lost', 'lost'],
  ['ready', 'without a segment'],
  ['lost', 'ready'],
];

const SCOPES = { known: ['*_root_load'], nothing: ['other_*'] };
const compiled = Object.entries(SCOPES).map(([name, metrics]) => compileScope({ name, metrics }));
const MATCHES = new Map(Object.keys(SCOPES).map((name) => [name, name !== 'nothing']));

/** Scopes in the path, in the query, or in both; equal or different, repeated, or empty. */
const SCOPED: readonly Pick<Asking, 'scope' | 'inPath'>[] = [
  { scope: [], inPath: [] },
  ...[...MATCHES.keys(), 'unknown'].flatMap((name) => [
    { scope: [], inPath: [name] },
    { scope: [name], inPath: [] },
    { scope: [name], inPath: [name] },
  ]),
  { scope: ['nothing'], inPath: ['known'] },
  { scope: ['known', 'known'], inPath: [] },
  { scope: ['known', 'known'], inPath: ['known'] },
  { scope: [''], inPath: [] },
  { scope: [''], inPath: ['known'] },
];

/**
 * Sets of targets for which every scope is requested while all targets are ready. The scope does not affect
 * which target is selected, so a few sets suffice.
 */
const FULLY_SCOPED: readonly string[] = ['one target', 'several targets'];

/** A few scopes, which suffice for the other cases. */
const FEW = SCOPED.filter(
  ({ scope, inPath }) => scope.length === 0 && [undefined, 'known', 'unknown'].includes(inPath[0]),
);

/** Returns values of a parameter: none, each known one, an unknown one, an empty one, and one given twice. */
function valuesOf(known: readonly string[]): readonly (readonly string[])[] {
  const [first = ''] = known;
  const once = [...new Set([...known, 'none', ''])].map((value) => [value]);
  return [[], ...once, [first, first]];
}

/** Returns one request for each kind of request that these targets must distinguish. */
function askings(
  targets: readonly Omit<Scraped, 'value'>[],
  scoped: readonly Pick<Asking, 'scope' | 'inPath'>[],
): Asking[] {
  // Two targets suffice, because a third one would differ from the second one only in its number.
  const near = targets.slice(0, 2);
  const keys = valuesOf(near.flatMap(({ serverKeys }) => serverKeys.slice(0, 2)));
  const apps = valuesOf(near.map(({ app }) => app));
  const instances = valuesOf(
    near.flatMap(({ root, hint }) => (hint === '' ? [root] : [root, hint])),
  );
  return keys.flatMap((server_key) =>
    apps.flatMap((app) =>
      instances.flatMap((instance) =>
        scoped.map((scope) => ({ server_key, app, instance, ...scope })),
      ),
    ),
  );
}

const pathOf = ({ inPath, ...parameters }: Asking): string => {
  const query = Object.entries(parameters).flatMap(([name, values]) =>
    values.map((value) => `${name}=${encodeURIComponent(value)}`),
  );
  const path = ['/metrics', ...inPath].join('/');
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
};

const RULE_1 =
  'scope selected, but target routing still required when multiple targets are configured\n';
const NOT_READY =
  /^scrape not ready: objects \d+\/\d+ synced, variables \d+\/\d+ synced, waiting on \S.*\n$/;

/** Returns the content of an answer in the form that the oracle uses. */
function said({ status, text }: RawAnswer): object {
  if (status === 503) return { status: NOT_READY.test(text) ? 503 : text };
  if (status === 400) return { status, isRule1: text === RULE_1 };
  if (status !== 200) return { status };
  const [, value] = /^\w+_root_load\{[^}]*\} (\d+)$/m.exec(text) ?? [];
  return { status, value: Number(value), isScoped: !text.includes('shm_exporter_target_info{') };
}

/** Each case is a set of targets, their states, and all requests to them. */
const CASES = Object.entries(SETS).flatMap(([name, targets]) =>
  STANDINGS.filter(([first, others]) => first === others || targets.length > 1).map(
    ([first, others]) => {
      const areReady = first === 'ready' && others === 'ready';
      const configured = targets.map((target, index) => ({
        target: { ...target, value: index + 1 },
        standing: index === 0 ? first : others,
      }));
      const rest = first === others ? `all ${first}` : `the first ${first}, the others ${others}`;
      return {
        title: `${name} (${targets.length > 1 ? rest : first})`,
        configured,
        asked: askings(targets, areReady && FULLY_SCOPED.includes(name) ? SCOPED : FEW),
      };
    },
  ),
);

describe('routing (spec 4.3, 7)', function () {
  this.slow(2000);
  let served: RoutingTargets | undefined;
  let client: KeepAliveClient | undefined;
  const ask = async (configured: readonly Configured[]) => {
    served = new RoutingTargets(configured, compiled);
    client = new KeepAliveClient(await served.set());
    return client;
  };
  afterEach(() => {
    client?.end();
    served?.end();
  });

  for (const { title, configured, asked } of CASES)
    it(`is correct for ${asked.length} requests to ${title}`, async () => {
      const answers = await (await ask(configured)).ask(asked.map(pathOf));
      const wrong = asked.flatMap((asking, index) => {
        const wanted = wantedOf(asking, configured, MATCHES);
        const answer = answers[index];
        const isRight = answer !== undefined && isDeepStrictEqual(said(answer), wanted);
        return isRight ? [] : [{ path: pathOf(asking), wanted, answer }];
      });
      expect(wrong.length, JSON.stringify(wrong.slice(0, 5), null, 1)).to.equal(0);
    });

  it('answers 404 for an unknown path and 405 for another method, whatever the query', async () => {
    const [{ configured, asked } = { configured: [], asked: [] }] = CASES.slice(-1);
    const paths = asked.map(pathOf);
    const other = await ask(configured);
    const statuses = async (...request: Parameters<KeepAliveClient['ask']>) => [
      ...new Set((await other.ask(...request)).map(({ status }) => status)),
    ];
    expect(await statuses(paths, 'POST')).to.deep.equal([405]);
    expect(
      await statuses(
        paths.map((path) => `/x${path}`),
        'POST',
      ),
    ).to.deep.equal([404]);
  });
});
