// Which root a target exports, among those that its server keys show. Spec 1.3.5.
import { combineLatest, defer, distinctUntilChanged, scan } from 'rxjs';
import type { Observable } from 'rxjs';
import type { ManagedObject, Source, Verdict } from '../model.js';
import { identityOf } from './root-identity.js';
import type { Sighting } from './watch.js';

export interface DesiredRoot {
  readonly app: string;
  /** A full root id or an instance number; empty for none. */
  readonly hint: string;
  /** Preferred if it is there and fits. */
  readonly former?: FormerRoot | undefined;
}

/** A root that was chosen before, elsewhere. */
export interface FormerRoot {
  readonly serverKey: string;
  readonly root: string;
}

export interface ChosenRoot {
  readonly kind: 'chosen';
  readonly serverKey: string;
  readonly source: Source;
  readonly root: ManagedObject;
  /** Ids of roots that would have fitted as well. */
  readonly others: readonly string[];
}

export type RootChoice =
  ChosenRoot | { readonly kind: 'none'; readonly reason: string; readonly publisher: Verdict };

interface Candidate {
  readonly serverKey: string;
  readonly order: number;
  readonly source: Source;
  readonly root: ManagedObject;
}

const ABSENT: Verdict = { state: 'absent', reason: 'no server key has been looked at yet' };

/** Keeps a chosen root until it is lost; chooses again at each sighting until there is one. */
export function chooseRoot(
  sightings: readonly Observable<Sighting>[],
  desired: DesiredRoot,
): Observable<RootChoice> {
  const start: RootChoice = { kind: 'none', reason: ABSENT.reason, publisher: ABSENT };
  return defer(() => {
    let { former } = desired;
    const chooseAnew = (seen: readonly Sighting[]): RootChoice => {
      const choice = choose(seen, { ...desired, former });
      if (choice.kind === 'chosen') former = undefined;
      return choice;
    };
    return combineLatest(sightings).pipe(
      scan((last: RootChoice, seen) => (isThere(last, seen) ? last : chooseAnew(seen)), start),
      distinctUntilChanged(isSameChoice),
    );
  });
}

function isThere(choice: RootChoice, seen: readonly Sighting[]): boolean {
  if (choice.kind !== 'chosen') return false;
  const sighting = seen.find(({ serverKey }) => serverKey === choice.serverKey);
  return sighting?.source === choice.source && choice.source.roots.has(choice.root);
}

/** The best root of these sightings; none while a directory is being read, which may show a better one. */
export function choose(seen: readonly Sighting[], desired: DesiredRoot): RootChoice {
  // A directory that never rests must not hold up the roots behind the other keys.
  const reading = seen.find(({ hasMore, isRestless }) => hasMore && isRestless !== true);
  if (reading !== undefined) {
    const reason = `the directory of server key ${reading.serverKey}, which is being read`;
    return { kind: 'none', reason, publisher: reading.publisher };
  }
  const all = seen.flatMap(({ serverKey, source }, order): Candidate[] =>
    source === undefined
      ? []
      : [...source.roots].map((root) => ({ serverKey, order, source, root })),
  );
  const ofApp = all.filter(({ root }) => identityOf(root).application === desired.app);
  const exact = ofApp.filter(({ root }) => root.name === desired.hint);
  const byInstance = ofApp.filter(({ root }) => identityOf(root).instance === desired.hint);
  const fitting = desired.hint === '' ? ofApp : exact.length > 0 ? exact : byInstance;
  const isFormer = ({ serverKey, root }: Candidate) =>
    serverKey === desired.former?.serverKey && root.name === desired.former.root;
  const [best, ...others] = [...fitting].sort(
    (a, b) => Number(isFormer(b)) - Number(isFormer(a)) || byPreference(a, b),
  );
  if (best === undefined) return none(seen, all, desired);
  const { serverKey, source, root } = best;
  return { kind: 'chosen', serverKey, source, root, others: others.map((each) => each.root.name) };
}

/** Fewest segments, then the order of the server keys, then the lowest instance, then the id. */
function byPreference(a: Candidate, b: Candidate): number {
  const segments = ({ root }: Candidate) => root.name.split('.').length;
  const instance = ({ root }: Candidate) => {
    const number = Number(identityOf(root).instance);
    return Number.isNaN(number) ? Number.MAX_VALUE : number;
  };
  return (
    segments(a) - segments(b) ||
    a.order - b.order ||
    instance(a) - instance(b) ||
    (a.root.name < b.root.name ? -1 : Number(a.root.name > b.root.name))
  );
}

function none(
  seen: readonly Sighting[],
  all: readonly Candidate[],
  { app, hint }: DesiredRoot,
): RootChoice {
  const wanted = `a root of application ${app}${hint === '' ? '' : ` that fits instance ${hint}`}`;
  const roots = all.map(({ root }) => root.name);
  const publishers = seen.map(({ publisher }) => publisher);
  const publisher =
    seen.find(({ source }) => source !== undefined)?.publisher ??
    publishers.find(({ state }) => state !== 'absent') ??
    publishers[0] ??
    ABSENT;
  const states = seen.map((each) => `server key ${each.serverKey}: ${each.publisher.reason}`);
  const reason =
    roots.length > 0
      ? `${wanted}, there is ${shortened(roots)}`
      : `${wanted}, ${states.join('; ')}`;
  return { kind: 'none', reason, publisher };
}

const MAX_NAMED = 5;
const shortened = (names: readonly string[]): string =>
  names.length <= MAX_NAMED
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`;

function isSameChoice(a: RootChoice, b: RootChoice): boolean {
  if (a.kind === 'none' || b.kind === 'none')
    return a.kind === 'none' && b.kind === 'none' && a.reason === b.reason;
  return a.root === b.root && a.source === b.source;
}
