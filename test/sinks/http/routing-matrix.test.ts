// Tests every combination of routing parameters, for sets of targets with and without roots, against the rules of
// the specification alone: 4.3 and 7.
import { expect } from 'chai';
import { route } from '#app/sinks/http/route.js';
import { FakeTarget } from '../../support/fake-target.js';

/** A target has a root, lost it, or never had one. Without a root, its hint identifies it. */
type Standing = 'rooted' | 'lost' | 'rootless';
interface Given {
  readonly app: string;
  /** The first one has the root. */
  readonly serverKeys: readonly string[];
  readonly root: string;
  readonly hint: string;
}
interface Asked {
  readonly server_key: readonly string[];
  readonly app: readonly string[];
  readonly instance: readonly string[];
  readonly scope: readonly string[];
  readonly inPath: string | undefined;
}

const given = (serverKeys: string, root: string, hint = ''): Given => ({
  app: root.slice(-3),
  serverKeys: serverKeys.split(' '),
  root,
  hint,
});

const SETS: Readonly<Record<string, readonly Given[]>> = {
  'one target': [given('82', 'H.1.ads')],
  'one target with several server keys': [given('456 82 999', 'a.b.1.ads')],
  'several targets': [
    given('82', 'H.1.ads', 'H.1.ads'),
    given('80', 'a.b.1.adh', '1'),
    given('7', 'H.2.ats'),
  ],
  'targets that share app and instance': [
    given('82', 'H.1.ads', 'H.1.ads'),
    given('456', 'H.1.ads'),
    given('80', 'H.1.adh'),
  ],
  'applications on one server key': [given('7', 'H.1.ads'), given('7', 'H.1.adh', 'H.1.adh')],
  'roots of one application on one server key': [
    given('5', 'H.1.ads', '1'),
    given('5', 'H.2.ads', 'H.2.ads'),
  ],
};
/** The standing of the first target and of the others. */
const STANDINGS: readonly (readonly [Standing, Standing])[] = [
  ['rooted', 'rooted'],
  ['rootless', 'rootless'],
  ['lost', 'lost'],
  ['rooted', 'rootless'],
  ['lost', 'rooted'],
];
/** Scopes in the query and in the path. */
const SCOPES: readonly Pick<Asked, 'scope' | 'inPath'>[] = [
  { scope: [], inPath: undefined },
  { scope: [], inPath: 'a' },
  { scope: ['a'], inPath: undefined },
  { scope: ['a'], inPath: 'a' },
  { scope: ['a'], inPath: 'b' },
  { scope: ['a', 'a'], inPath: undefined },
  { scope: [''], inPath: undefined },
  { scope: [''], inPath: 'a' },
];

/** Returns the number of the selected target and the scope, or the status; `rule 1` for the text of spec 7.1. */
function wantedOf(asked: Asked, targets: readonly (Given & { standing: Standing })[]): string {
  const { inPath, ...query } = asked;
  // Beyond the specification: a repeated parameter, or two scopes.
  if (Object.values(query).some((values) => values.length > 1)) return '400';
  const [scope, other] = new Set(inPath === undefined ? asked.scope : [...asked.scope, inPath]);
  if (other !== undefined) return '400';
  const unclear = scope !== undefined && targets.length > 1 ? 'rule 1' : '400';
  const [hasKey, hasApp, hasInstance] = [asked.server_key, asked.app, asked.instance].map(
    (values) => values.length > 0,
  );
  // 4.3.1, 4.3.2, and app without instance or the reverse: spec 7.
  if (!hasKey && !hasApp && !hasInstance && targets.length > 1) return unclear;
  if (!hasKey && hasApp !== hasInstance) return unclear;
  const found = targets.flatMap(({ app, serverKeys, root, hint, standing }, index) => {
    const keys = standing === 'rooted' ? serverKeys.slice(0, 1) : serverKeys;
    const instance = standing === 'rootless' ? hint : root;
    const matches =
      asked.server_key.every((key) => keys.includes(key)) &&
      asked.app.every((each) => each === app) &&
      asked.instance.every((each) => each !== '' && each === instance);
    return matches ? [index] : [];
  });
  if (found.length === 0) return '404';
  return found.length > 1 ? unclear : `target ${found[0]}, scope ${scope}`;
}

/** Returns values of a parameter: none, each of these, an unknown one, an empty one, and one given twice. */
const valuesOf = (known: readonly string[]): readonly (readonly string[])[] => [
  [],
  ...[...new Set([...known, 'none', ''])].map((value) => [value]),
  known.slice(0, 1).flatMap((value) => [value, value]),
];

function* everyRequest(targets: readonly Given[]): Generator<Asked> {
  for (const server_key of valuesOf(targets.flatMap(({ serverKeys }) => serverKeys)))
    for (const app of valuesOf(targets.map((target) => target.app)))
      for (const instance of valuesOf(targets.flatMap(({ root, hint }) => [root, hint])))
        for (const scope of SCOPES) yield { server_key, app, instance, ...scope };
}

function routed(targets: readonly FakeTarget[], { inPath, ...query }: Asked): string {
  const words = Object.entries(query).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const result = route(targets, new URLSearchParams(words), inPath);
  if (result.kind === 'target')
    return `target ${targets.findIndex((each) => each === result.target)}, scope ${result.scope}`;
  return result.text.startsWith('scope selected, but') ? 'rule 1' : String(result.status);
}

describe('routing (spec 4.3, 7)', () => {
  for (const [name, set] of Object.entries(SETS))
    for (const [first, others] of STANDINGS)
      it(`follows the specification for every request to ${name} (the first ${first}, others ${others})`, () => {
        const targets = set.map((each, index) => ({
          ...each,
          standing: index === 0 ? first : others,
        }));
        const fakes = targets.map(({ app, serverKeys, root, hint, standing }) => {
          const fake = new FakeTarget(app, serverKeys, standing === 'rootless' ? '' : root);
          if (standing === 'lost') fake.root = '';
          return Object.assign(fake, { instance: hint });
        });
        for (const asked of everyRequest(set)) {
          const [shown, wanted] = [routed(fakes, asked), wantedOf(asked, targets)];
          if (shown !== wanted) expect(shown, JSON.stringify(asked)).to.equal(wanted);
        }
      });
});
