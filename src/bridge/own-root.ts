// What the bridge says of itself: a root of its own beside those of the component.
import type { VariableKind } from '../model.js';
import type { PublishedObject } from '../native/publisher-options.js';
import type { PublishedScalar } from '../native/published-values.js';
import type { Publisher } from '../native/publisher.js';
import { ODDITIES } from './component-tree.js';
import type { Oddity } from './component-tree.js';
import { FAILURE_REASONS } from './poll-failure.js';
import type { FailureReason } from './poll-failure.js';

interface Row {
  readonly type: 'u64' | 'f64' | 'bool';
  readonly kind: VariableKind;
  readonly unit: string;
  readonly help: string;
}

const total = (help: string, unit = ''): Row => ({ type: 'u64', kind: 'counter', unit, help });
const level = (help: string, unit = ''): Row => ({ type: 'u64', kind: 'gauge', unit, help });
const amount = (help: string, kind: VariableKind = 'gauge'): Row => ({
  type: 'f64',
  kind,
  unit: 'seconds',
  help,
});
const flag = (help: string): Row => ({ type: 'bool', kind: 'gauge', unit: '', help });

/** The variables of the root, by name. */
export const OWN_VARIABLES = {
  up: flag('1 when the last poll of the component brought its tree.'),
  isPublished: flag('1 while objects of the component are published, fresh or stale.'),
  isStale: flag('1 while the published objects are older than stale_after intervals.'),
  polls: total('Polls of the component, good and failed ones.'),
  skippedPolls: total('Polls left out because the one before was still under way.'),
  lastSuccessTimestampSeconds: amount(
    'When the component last showed its tree, as a Unix timestamp; 0 for never.',
  ),
  lastPollDurationSeconds: amount('How long the last poll took, from the request to the tree.'),
  pollDurationSeconds: amount('How long all polls took together.', 'counter'),
  lastStoreDurationSeconds: amount('How long it took to store what the last tree changed.'),
  storeDurationSeconds: amount('How long it took to store what all trees changed.', 'counter'),
  receivedBytes: total('Bytes of bodies that came over the wire.', 'bytes'),
  lastBodyBytes: level('Size of the last whole body, decompressed.', 'bytes'),
  objects: level('Objects of the component in its last tree.'),
  variables: level('Variables of the component in its last tree.'),
  publishedObjects: level('Objects of the component that are published now.'),
  changedValues: total('Values that differed from the poll before and were stored.'),
  addedObjects: total('Objects that were added.'),
  removedObjects: total('Objects that were removed.'),
  dropped: level('Objects and variables of the last tree that found no room in the segment.'),
  restarts: total('Restarts of the component, seen by its processID or its start time.'),
} as const satisfies Readonly<Record<string, Row>>;

export type OwnVariable = keyof typeof OWN_VARIABLES;

/** Where it stands: `host`.`number`.shm_bridge. */
export interface OwnIdentity {
  readonly host: string;
  /** Of the component in the configuration, from 1. */
  readonly number: number;
  /** The component's name and the address of its view. */
  readonly name: string;
  readonly url: string;
}

const APPLICATION = 'shm_bridge';

export class OwnRoot {
  readonly #values: Readonly<Record<OwnVariable, PublishedScalar>>;
  readonly #failures: Readonly<Record<FailureReason, PublishedScalar>>;
  readonly #oddities: Readonly<Record<Oddity, PublishedScalar>>;

  /** Publishes the root, everything at 0. */
  constructor(publisher: Publisher, { host, number, name, url }: OwnIdentity) {
    const instance = String(number);
    const id = `${host}.${instance}.${APPLICATION}`;
    const root = publisher.addRoot(id, 'Component', {
      synced: false,
      identity: { host, instance, application: APPLICATION },
    });
    for (const [label, text] of Object.entries({ name, url }))
      publisher.addVariable(root, label, 'string', { textBytes: 2048 }).set(text);
    const add = (object: PublishedObject, variable: string, { type, ...options }: Row) => {
      const handle = publisher.addVariable(object, variable, type, options);
      handle.set(0);
      return handle;
    };
    /** One object a row, each with one variable. */
    const children = <K extends string>(
      path: string,
      className: string,
      rows: Readonly<Record<K, string>>,
      variable: string,
      rowOf: (meaning: string) => Row,
    ) =>
      mapValues(rows, (meaning, key) => {
        const child = publisher.addObject(root, `${id}.${path}.${key}`, className);
        return add(child, variable, rowOf(meaning));
      });
    this.#values = mapValues(OWN_VARIABLES, (row, variable) => add(root, variable, row));
    this.#failures = children('failures', 'Failure', FAILURE_REASONS, 'polls', () =>
      total('Polls that brought no tree, by reason.'),
    );
    this.#oddities = children('oddities', 'Oddity', ODDITIES, 'items', () =>
      level('What the last tree had that is not as it should be, by kind.'),
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

  setOddities(counts: Readonly<Record<Oddity, number>>): void {
    for (const [oddity, handle] of Object.entries(this.#oddities) as [Oddity, PublishedScalar][])
      handle.set(counts[oddity]);
  }
}

const mapValues = <K extends string, A, B>(
  record: Readonly<Record<K, A>>,
  map: (value: A, key: K) => B,
): Record<K, B> =>
  Object.fromEntries(
    (Object.entries(record) as [K, A][]).map(([key, value]) => [key, map(value, key)]),
  ) as Record<K, B>;
