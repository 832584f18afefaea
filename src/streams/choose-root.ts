// Chooses the root of a target among the roots behind its server keys.
import type { FoundRoot, ManagedObject, RootIdentity, Source, Verdict } from '../model.js';
import { NOT_POLLED } from './poller.js';
import type { PollResult } from './poller.js';

type RootName = Pick<ManagedObject, 'name' | 'identity'>;

const applicationOf = ({ name, identity }: RootName): string =>
  identity.application || name.slice(name.lastIndexOf('.') + 1);

/**
 * The identity of a root: from the root's record, or parsed from the id. Parsing starts at the end of the id, since
 * host names contain dots.
 */
export function identityOf(root: RootName): RootIdentity {
  const { name, identity } = root;
  const parts = name.split('.').slice(0, -1);
  const instance = parts.pop() ?? '';
  return {
    host: identity.host || parts.join('.'),
    instance: identity.instance || instance,
    application: applicationOf(root),
  };
}

export interface DesiredRoot {
  readonly app: string;
  /** A full root id or an instance number; empty for none. */
  readonly hint: string;
  /**
   * The root that the target had in the previous hosting. The first choice prefers this root if it still exists and
   * matches.
   */
  readonly formerRoot?: FoundRoot | undefined;
}

export interface ChosenRoot {
  readonly kind: 'chosen';
  readonly serverKey: string;
  readonly source: Source;
  readonly root: ManagedObject;
  /** The ids of the other roots that match. */
  readonly others: readonly string[];
}

export type RootChoice =
  ChosenRoot | { readonly kind: 'none'; readonly reason: string; readonly publisher: Verdict };

/** A root, with its sort keys. */
interface Candidate {
  readonly serverKey: string;
  readonly source: Source;
  readonly root: ManagedObject;
  readonly identity: RootIdentity;
  /** The index of the server key. */
  readonly order: number;
  /** The number of dot-separated parts of its id. */
  readonly parts: number;
  /** The instance number; the greatest number if the instance is not a number. */
  readonly instance: number;
}

/** The maximum number of roots to compare for a server key. A publisher usually has a few. */
const MAX_ROOTS = 16_384;

/** Chooses the root of a target. Keeps it until it is lost. */
export class RootChooser {
  #desired: DesiredRoot;
  #choice: RootChoice | undefined;

  constructor(desired: DesiredRoot) {
    this.#desired = desired;
  }

  /**
   * Returns the object of the last choice if its root still exists, or if there is still no root for the same reason.
   * Otherwise makes a new choice.
   * @param results the last new result of each server key
   */
  choose(results: readonly PollResult[]): RootChoice {
    const last = this.#choice;
    if (last?.kind === 'chosen' && isThere(last, results)) return last;
    const choice = choose(results, this.#desired);
    if (choice.kind === 'chosen') this.#desired = { ...this.#desired, formerRoot: undefined };
    else if (last?.kind === 'none' && last.reason === choice.reason) return last;
    return (this.#choice = choice);
  }
}

function isThere(choice: ChosenRoot, results: readonly PollResult[]): boolean {
  const pollResult = results.find(({ serverKey }) => serverKey === choice.serverKey);
  return pollResult?.source === choice.source && choice.source.roots.has(choice.root);
}

/**
 * Returns the best root of these poll results. Returns none while a directory is being read, since a better root may
 * follow.
 */
export function choose(results: readonly PollResult[], desired: DesiredRoot): RootChoice {
  // A directory that changes all the time must not block the roots behind the other keys.
  const reading = results.find(
    ({ source, hasMore, isUnstable }) => source !== undefined && hasMore && isUnstable !== true,
  );
  if (reading !== undefined) {
    const reason = `the directory of server key ${reading.serverKey}, which is being read`;
    return { kind: 'none', reason, publisher: reading.publisher };
  }
  const ofApp = results.flatMap((result, order) => candidates(result, order, desired.app));
  const exact = ofApp.filter(({ root }) => root.name === desired.hint);
  const byInstance = ofApp.filter(({ identity }) => identity.instance === desired.hint);
  const fitting = desired.hint === '' ? ofApp : exact.length > 0 ? exact : byInstance;
  const isFormer = ({ serverKey, root }: Candidate) =>
    serverKey === desired.formerRoot?.serverKey && root.name === desired.formerRoot.id;
  const [best, ...others] = fitting.sort(
    (a, b) => Number(isFormer(b)) - Number(isFormer(a)) || byPreference(a, b),
  );
  if (best === undefined) return none(results, desired);
  const { serverKey, source, root } = best;
  return { kind: 'chosen', serverKey, source, root, others: others.map((each) => each.root.name) };
}

/** The roots of an application among the first `MAX_ROOTS` of a poll result, in the order of their publication. */
function candidates({ serverKey, source }: PollResult, order: number, app: string): Candidate[] {
  const found: Candidate[] = [];
  if (source === undefined) return found;
  let seen = 0;
  for (const root of source.roots) {
    if (seen++ === MAX_ROOTS) break;
    // Compare only the application first, because a publisher may have many roots of other applications.
    if (applicationOf(root) !== app) continue;
    const identity = identityOf(root);
    const instance = Number(identity.instance);
    found.push({
      ...{ serverKey, source, root, identity, order },
      parts: root.name.split('.').length,
      instance: Number.isNaN(instance) ? Number.MAX_VALUE : instance,
    });
  }
  return found;
}

/** Orders candidates by the number of parts of their ids, then by server key, instance and id. */
function byPreference(a: Candidate, b: Candidate): number {
  return (
    a.parts - b.parts ||
    a.order - b.order ||
    a.instance - b.instance ||
    (a.root.name < b.root.name ? -1 : Number(a.root.name > b.root.name))
  );
}

function none(results: readonly PollResult[], { app, hint }: DesiredRoot): RootChoice {
  const sizes = results.map(({ source }) => source?.roots.size ?? 0);
  const count = total(sizes);
  const searched = total(sizes.map((size) => Math.min(size, MAX_ROOTS)));
  const fitting = hint === '' ? '' : ` that fits instance ${hint}`;
  const among =
    searched < count ? ` among the first ${grouped(searched)} of ${grouped(count)} roots` : '';
  const wanted = `a root of application ${app}${fitting}${among}`;
  const roots = results.flatMap(({ source }) => (source === undefined ? [] : [...namesOf(source)]));
  const publishers = results.map(({ publisher }) => publisher);
  const publisher =
    results.find(({ source }) => source !== undefined)?.publisher ??
    publishers.find(({ state }) => state !== 'absent') ??
    publishers[0] ??
    NOT_POLLED;
  const states = results.map((each) => `server key ${each.serverKey}: ${each.publisher.reason}`);
  const reason =
    roots.length > 0
      ? `${wanted}; found only ${shortened(roots, count)}`
      : `${wanted}; ${states.join('; ')}`;
  return { kind: 'none', reason, publisher };
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);
const grouped = (count: number): string => count.toLocaleString('en-US');

const MAX_NAMED = 5;

/** The names of a few roots. */
function* namesOf({ roots }: Source): Generator<string> {
  let count = 0;
  for (const { name } of roots) {
    if (count++ > MAX_NAMED) return;
    yield name;
  }
}

/** Joins the first few names, and states how many more there are. */
export const shortened = (names: readonly string[], count = names.length): string =>
  count <= MAX_NAMED
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMED).join(', ')} and ${count - MAX_NAMED} more`;
