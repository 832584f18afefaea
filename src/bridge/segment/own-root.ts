// The bridge's own root in a segment, with counters and conditions of one component.
import type { VariableKind } from '../../model.js';
import type { PublishedScalar } from '../../native/publisher/published-values.js';
import type { Publisher } from '../../native/publisher/publisher.js';
import type { PublishedObject } from '../../native/publisher/publisher-options.js';
import { FAILURE_REASONS } from '../poll/fetch-body.js';
import type { FailureReason } from '../poll/fetch-body.js';
import { ODDITIES } from '../tree/component-tree.js';
import type { OddityKind } from '../tree/component-tree.js';

export const APPLICATION = 'shm_bridge';

/** The class of the root. */
export const CLASS = 'Component';

interface OwnRow {
  readonly type: 'u64' | 'f64' | 'bool';
  readonly kind: VariableKind;
  readonly unit: string;
  readonly help: string;
}

const total = (help: string, unit = ''): OwnRow => ({ type: 'u64', kind: 'counter', unit, help });
const level = (help: string, unit = ''): OwnRow => ({ type: 'u64', kind: 'gauge', unit, help });
const amount = (help: string, kind: VariableKind = 'gauge'): OwnRow => ({
  type: 'f64',
  kind,
  unit: 'seconds',
  help,
});
const flag = (help: string): OwnRow => ({ type: 'bool', kind: 'gauge', unit: '', help });

export const OWN_VARIABLES = {
  up: flag('1 if the last poll of the component succeeded.'),
  isPublished: flag('1 while objects of the component are published, fresh or stale.'),
  isStale: flag('1 while the published objects are older than stale_after allows.'),
  polls: total('Polls of the component, successful and failed ones.'),
  skippedPolls: total('Polls skipped because the previous one was still running.'),
  lastSuccessTimestampSeconds: amount(
    'Unix timestamp of the last successful poll; 0 before the first one.',
  ),
  lastPollDurationSeconds: amount('Duration of the last poll, from the request to the tree.'),
  pollDurationSeconds: amount('Total duration of all polls.', 'counter'),
  lastStoreDurationSeconds: amount('Time to store the changes of the last tree.'),
  storeDurationSeconds: amount('Total time to store the changes of all trees.', 'counter'),
  receivedBytes: total('Bytes of response bodies as received, before any decompression.', 'bytes'),
  lastBodyBytes: level('Size of the last complete response body after decompression.', 'bytes'),
  objects: level('Objects of the component in its last tree.'),
  variables: level('Variables of the component in its last tree.'),
  publishedObjects: level('Objects of the component that are published now.'),
  changedValues: total('Values stored because they differed from the previous poll.'),
  addedObjects: total('Objects that were added.'),
  removedObjects: total('Objects that were removed.'),
  dropped: level('Objects and variables of the last tree that did not fit in the segment.'),
  restarts: total('Restarts of the component, detected by its processID or its start time.'),
} as const satisfies Readonly<Record<string, OwnRow>>;

type OwnVariable = keyof typeof OWN_VARIABLES;

export const OWN_TEXTS = {
  name: 'Name of the component in the configuration.',
  url: 'Address of the component.',
} as const satisfies Readonly<Record<string, string>>;

/**
 * The component as the root presents it. The id of the root is `host`.`number`.shm_bridge. Below it are an object for
 * each reason of failed polls, and one for each kind of irregular items.
 */
interface OwnIdentity {
  readonly host: string;
  /** The position of the component in the configuration, from 1. */
  readonly number: number;
  /** The component's name and the address of its view. */
  readonly name: string;
  readonly url: string;
}

export class OwnRoot {
  readonly #values: Readonly<Record<OwnVariable, PublishedScalar>>;
  readonly #failures: Readonly<Record<FailureReason, PublishedScalar>>;
  readonly #oddities: Readonly<Record<OddityKind, PublishedScalar>>;

  /** Publishes the root with all values at 0. */
  constructor(publisher: Publisher, identity: OwnIdentity) {
    const { host, number } = identity;
    const instance = String(number);
    const id = `${host}.${instance}.${APPLICATION}`;
    const root = publisher.addRoot(id, CLASS, {
      synced: false,
      identity: { host, instance, application: APPLICATION },
    });
    mapValues(OWN_TEXTS, (help, variable) => {
      publisher
        .addVariable(root, variable, 'string', { textBytes: 2048, help })
        .set(identity[variable]);
    });
    const add = (object: PublishedObject, variable: string, { type, ...options }: OwnRow) => {
      const handle = publisher.addVariable(object, variable, type, options);
      handle.set(0);
      return handle;
    };
    const child = (path: string, className: string) =>
      publisher.addObject(root, `${id}.${path}`, className);
    this.#values = mapValues(OWN_VARIABLES, (row, variable) => add(root, variable, row));
    const failed = total('Failed polls, by reason.');
    this.#failures = mapValues(FAILURE_REASONS, (_meaning, reason) =>
      add(child(`failures.${reason}`, 'Failure'), 'polls', failed),
    );
    const odd = level('Irregular items of the last tree, by kind.');
    this.#oddities = mapValues(ODDITIES, (_meaning, kind) =>
      add(child(`oddities.${kind}`, 'Oddity'), 'items', odd),
    );
    publisher.setSynced(root);
  }

  set(name: OwnVariable, value: number | boolean): void {
    this.#values[name].set(value);
  }

  add(name: OwnVariable, amount: number): void {
    if (amount !== 0) this.#values[name].add(amount);
  }

  countFailure(reason: FailureReason): void {
    this.#failures[reason].add(1);
  }

  setOddities(counts: Readonly<Record<OddityKind, number>>): void {
    for (const [kind, handle] of Object.entries(this.#oddities) as [OddityKind, PublishedScalar][])
      handle.set(counts[kind]);
  }
}

const mapValues = <K extends string, A, B>(
  record: Readonly<Record<K, A>>,
  map: (value: A, key: K) => B,
): Record<K, B> =>
  Object.fromEntries(
    (Object.entries(record) as [K, A][]).map(([key, value]) => [key, map(value, key)]),
  ) as Record<K, B>;
