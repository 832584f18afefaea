// The bridge's report about itself: a root of its own beside those of the component.
import type { PublishedObject } from '../../native/publisher/publisher-options.js';
import type { PublishedScalar } from '../../native/publisher/published-values.js';
import type { Publisher } from '../../native/publisher/publisher.js';
import { ODDITIES } from '../tree/component-tree.js';
import type { Oddity } from '../tree/component-tree.js';
import {
  APPLICATION,
  CLASSES,
  FAILED_POLLS,
  ODD_ITEMS,
  OWN_TEXTS,
  OWN_VARIABLES,
} from './own-variables.js';
import type { OwnRow, OwnVariable } from './own-variables.js';
import { FAILURE_REASONS } from '../poll/poll-failure.js';
import type { FailureReason } from '../poll/poll-failure.js';

/** Its id is `host`.`number`.shm_bridge. */
export interface OwnIdentity {
  readonly host: string;
  /** Of the component in the configuration, from 1. */
  readonly number: number;
  /** The component's name and the address of its view. */
  readonly name: string;
  readonly url: string;
}

export class OwnRoot {
  readonly #values: Readonly<Record<OwnVariable, PublishedScalar>>;
  readonly #failures: Readonly<Record<FailureReason, PublishedScalar>>;
  readonly #oddities: Readonly<Record<Oddity, PublishedScalar>>;

  /** Publishes the root, everything at 0. */
  constructor(publisher: Publisher, identity: OwnIdentity) {
    const { host, number } = identity;
    const instance = String(number);
    const id = `${host}.${instance}.${APPLICATION}`;
    const root = publisher.addRoot(id, CLASSES.component, {
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
    /** One object per key, each with one variable. */
    const children = <K extends string>(
      path: string,
      className: string,
      keys: Readonly<Record<K, string>>,
      { variable, row }: { readonly variable: string; readonly row: OwnRow },
    ) =>
      mapValues(keys, (_meaning, key) =>
        add(publisher.addObject(root, `${id}.${path}.${key}`, className), variable, row),
      );
    this.#values = mapValues(OWN_VARIABLES, (row, variable) => add(root, variable, row));
    this.#failures = children('failures', CLASSES.failure, FAILURE_REASONS, FAILED_POLLS);
    this.#oddities = children('oddities', CLASSES.oddity, ODDITIES, ODD_ITEMS);
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
