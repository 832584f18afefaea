// Roots, sources and poll results for tests of the streams.
import type { ManagedObject, PublisherState, RootIdentity, Source } from '#app/model.js';
import type { PollResult } from '#app/streams/poller.js';

let lastId = 0;

/** A root without children or variables. Its record has this identity. */
export function root(name: string, identity: Partial<RootIdentity> = {}): ManagedObject {
  const id = ++lastId;
  return {
    id,
    slot: id,
    incarnation: 1,
    name,
    className: 'Root',
    parent: undefined,
    children: new Set(),
    variables: new Set(),
    identity: { host: '', instance: '', application: '', ...identity },
    asOf: undefined,
  };
}

/** A source with these roots and no values. A test may change `roots`. */
export function sourceOf(...roots: readonly ManagedObject[]): Source & {
  readonly roots: Set<ManagedObject>;
} {
  return {
    generation: 'fake',
    frameBytes: 0,
    roots: new Set(roots),
    readChanges: () => ({ changes: [], hasMore: false }),
    hasChanges: () => false,
    readSlots: () => 0,
    readWords: () => 0,
    readFrame: () => undefined,
  };
}

/** A poll result of a live publisher, with the given changes. */
export const pollResult = (given: Partial<PollResult> = {}): PollResult => ({
  serverKey: '82',
  publisher: { state: 'live', reason: 'publisher is live' },
  source: undefined,
  changes: [],
  hasMore: false,
  notifications: 0,
  drops: { objects: 0, variables: 0 },
  ...given,
});

/** A poll result of a server key that has no source. */
export const unseen = (state: PublisherState, reason: string, serverKey = '82'): PollResult =>
  pollResult({ serverKey, publisher: { state, reason } });
