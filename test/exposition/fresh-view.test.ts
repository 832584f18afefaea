// Tests a view that lives through random changes: its page equals the page of a fresh view of the same
// source.
import { expect } from 'chai';
import fc from 'fast-check';
import { OBJECT_STATES } from '#app/model.js';
import type { Frame, ObjectState, Variable } from '#app/model.js';
import { FakeSource } from '../support/fake-source.js';
import type { FakeObject, FakeValue, VariableOptions } from '../support/fake-source.js';
import { runToEnd } from '#app/run-to-end.js';
import { shopCatalogue, testView } from './test-view.js';

const row = (name: string, type: string, rest: string): string =>
  `{ name = "shop_${name}", type = "${type}", help = "H.", ${rest} },`;

/** Rows of each kind whose series depend on the present values only. */
const EVERY_KIND = (prefix: string): string =>
  [
    row(`${prefix}_state`, 'stateset', 'var = "@state"'),
    row(`${prefix}_mode`, 'stateset', 'var = "mode", states = ["off", "on", "2"]'),
    row(`${prefix}_info`, 'info', 'labels_from = { v = "version", r = "release" }'),
    row(`${prefix}_start_seconds`, 'gauge', 'unit = "seconds", var = "start", conv = "timestamp"'),
    row(`${prefix}_wait`, 'summary', 'sum_var = "sum", count_var = "count", scale = 0.5'),
    row(`${prefix}_lag`, 'histogram', 'var = "lag", scale = 0.1'),
    row(`${prefix}_size`, 'summary', 'var = "size"'),
    row(`${prefix}_port`, 'gauge', 'var = "port.{port}"'),
    row(`${prefix}_sent_total`, 'counter', 'var = "count", wrap32 = true'),
    row(`${prefix}_coins`, 'gauge', 'var = "coins", at = "drawer", class_id = "Drawer"'),
  ].join('\n');
const CATALOGUE = shopCatalogue(EVERY_KIND('root'), EVERY_KIND('till'));

const histogram = (n: number): Frame => ({
  type: 'histogram',
  counts: BigUint64Array.of(BigInt(n), 1n),
  sum: n,
});
const summary = (n: number): Frame => ({
  type: 'summary',
  count: BigInt(n),
  sum: n,
  values: Float64Array.of(n),
});
const bools = (n: number): FakeValue => n % 2 === 0;

/** The variables by name. They have few different values, so that many changes return to an earlier value. */
const VARIABLES: Readonly<
  Record<
    string,
    Pick<VariableOptions, 'type' | 'schema'> & { readonly valueOf: (n: number) => FakeValue }
  >
> = {
  mode: { type: 'string', valueOf: (n) => ['off', 'on', 'broken'][n] ?? '' },
  version: { type: 'string', valueOf: (n) => `v${n}` },
  release: { type: 'i64', valueOf: (n) => BigInt(-n) },
  start: { type: 'i64', valueOf: (n) => BigInt(n) },
  sum: { type: 'f64', valueOf: (n) => n / 2 },
  count: { type: 'u64', valueOf: (n) => BigInt(n) },
  lag: { type: 'histogram', schema: [1], valueOf: histogram },
  size: { type: 'summary', schema: [0.5], valueOf: summary },
  'port.1': { type: 'bool', valueOf: bools },
  'port.2': { type: 'u64', valueOf: (n) => BigInt(n) },
  coins: { type: 'u64', valueOf: (n) => BigInt(n) },
  // No row reads the next two variables.
  note: { type: 'string', valueOf: (n) => `n${n}` },
  delay: { type: 'histogram', schema: [1, 2], valueOf: histogram },
};
const NAMES = Object.keys(VARIABLES);
const VALUES = 3;

/**
 * The number of slots in a page, which the reader copies as a whole. The tree uses the slots of PAGES
 * adjacent pages.
 */
const PAGE_SLOTS = 512;
const PAGES = 8;

/** A tree that random steps change. Its objects and variables have slots on random pages. */
class RandomTree {
  readonly source = new FakeSource();
  /** The slots of removed nodes, for reuse, and a counter for slots that were never used. */
  readonly #free: number[] = [];
  #fresh = 0;
  #count = 0;
  readonly root = this.#add('h.1.shop', 'Shop', {});
  readonly #floor = this.#add('h.1.shop.floor', 'Floor', { parent: this.root });
  readonly #objects: FakeObject[] = [this.root];

  /** Adds this many objects and variables. */
  add(count: number, pick: number): void {
    for (let i = 0; i < count; i++)
      if ((pick + i) % 2 === 0) this.#addObject(pick + i);
      else this.#addVariable(pick + i);
  }

  removeObject(pick: number): void {
    const object = this.#object(pick);
    if (object === this.root) return;
    const gone = this.#objects.filter((each) => each === object || each.parent === object);
    for (const each of gone) {
      this.#objects.splice(this.#objects.indexOf(each), 1);
      this.#free.push(each.slot, ...[...each.variables].map(({ slot }) => slot));
    }
    this.source.remove(object);
  }

  removeVariable(pick: number): void {
    const variable = this.#variable(pick);
    if (variable === undefined) return;
    this.#free.push(variable.slot);
    this.source.remove(variable);
  }

  setState(pick: number, state: ObjectState): void {
    const object = this.#object(pick);
    this.source.setState(object, state);
    this.source.setSynced(object, true);
  }

  unsyncObject(pick: number): void {
    this.source.setSynced(this.#object(pick), false);
  }

  store(pick: number, value: number): void {
    const variable = this.#variable(pick);
    const made = variable && VARIABLES[variable.name];
    if (variable === undefined || made === undefined) return;
    this.source.set(variable, made.valueOf(value));
    this.source.setSynced(variable, true);
  }

  unset(pick: number): void {
    const variable = this.#variable(pick);
    if (variable !== undefined) this.source.setSynced(variable, false);
  }

  #addObject(pick: number): void {
    const name = this.#count++;
    // Tills are below the floor. Drawers are below the root or a till.
    if (pick % 3 > 0) {
      const id = `h.1.shop.floor.${pick % 3}.t${name}`;
      this.#objects.push(this.#add(id, 'Till', { parent: this.#floor, pick }));
      return;
    }
    const parent = this.#object(pick);
    if ([...parent.children].some((child) => child.className === 'Drawer')) return;
    if (parent.className === 'Drawer') return;
    this.#objects.push(this.#add(`${parent.name}.drawer`, 'Drawer', { parent, pick }));
  }

  #addVariable(pick: number): void {
    const object = this.#object(pick);
    const name = NAMES[pick % NAMES.length] ?? '';
    const made = VARIABLES[name];
    if (made === undefined) return;
    const { type, schema = [] } = made;
    const value = pick % 4 === 0 ? undefined : made.valueOf(pick % VALUES);
    this.source.addVariable(object, name, { type, value, schema, slot: this.#slot(pick) });
  }

  #add(
    name: string,
    className: string,
    { parent, pick = 0 }: { parent?: FakeObject; pick?: number },
  ): FakeObject {
    const state = OBJECT_STATES[pick % VALUES] ?? 'normal';
    const options = { state, isSynced: pick % 5 !== 4, slot: this.#slot(pick) };
    return this.source.addObject(name, className, { ...(parent && { parent }), ...options });
  }

  /** Returns a free slot: usually that of a removed node, otherwise a new one on a random page. */
  #slot(pick: number): number {
    const freed = pick % 4 === 3 ? undefined : this.#free.shift();
    return freed ?? (pick % PAGES) * PAGE_SLOTS + this.#fresh++;
  }

  #object(pick: number): FakeObject {
    return pickNew(this.#objects, pick) ?? this.root;
  }

  #variable(pick: number): Variable | undefined {
    const variables = this.#objects.flatMap(({ variables: some }) => [...some]);
    return pickNew(
      variables.sort((a, b) => a.id - b.id),
      pick,
    );
  }
}

/**
 * Picks any item, but usually one of the last five: errors are most likely with nodes that are not yet
 * bound.
 */
const pickNew = <T>(from: readonly T[], pick: number): T | undefined =>
  pick % 3 === 0
    ? from[Math.floor(pick / 3) % from.length]
    : from.at(-1 - (pick % Math.min(5, from.length)));

const ACTIONS = {
  add: 4,
  'add many': 4,
  'remove object': 3,
  'remove variable': 2,
  'set state': 9,
  'unsync object': 1,
  store: 8,
  unset: 1,
  absorb: 2,
  bind: 8,
  refresh: 2,
  render: 2,
  rest: 3,
} as const;
type Action = keyof typeof ACTIONS;

const someSteps = fc.array(
  fc.record({
    action: fc.oneof(
      ...Object.entries(ACTIONS).map(([action, weight]) => ({
        weight,
        arbitrary: fc.constant(action as Action),
      })),
    ),
    pick: fc.nat(1000),
    value: fc.nat(VALUES - 1),
  }),
  { minLength: 20, maxLength: 150, size: 'max' },
);

/** Changes the tree. Ignores steps that concern only the view. */
function change(tree: RandomTree, action: Action, pick: number, value: number): void {
  if (action === 'add') tree.add(1, pick);
  else if (action === 'add many') tree.add(5 + (pick % 20), pick);
  else if (action === 'remove object') tree.removeObject(pick);
  else if (action === 'remove variable') tree.removeVariable(pick);
  else if (action === 'set state') tree.setState(pick, OBJECT_STATES[value] ?? 'normal');
  else if (action === 'unsync object') tree.unsyncObject(pick);
  else if (action === 'store') tree.store(pick, value);
  else if (action === 'unset') tree.unset(pick);
}

describe('a view of a changing source', () => {
  for (const showUncatalogued of [false, true])
    it(`has the text of a new view once it has applied all changes${showUncatalogued ? ', even with show_uncatalogued' : ''}`, () =>
      fc.assert(
        fc.property(
          someSteps,
          fc.nat(30),
          fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 9 }),
          (steps, before, slices) => {
            const tree = new RandomTree();
            for (const { action, pick, value } of steps.slice(0, before))
              change(tree, action, pick, value);
            let number = 0;
            const bindLimits = () => ({ steps: slices[number++ % slices.length] ?? 1 });
            const options = { catalogue: CATALOGUE, showUncatalogued };
            const { view, text } = testView(tree.source, tree.root, { ...options, bindLimits });
            let hasMore = true;
            view.onMoreToBind(() => (hasMore = true));
            const absorb = () => {
              view.applyChanges(tree.source.readChanges().changes);
            };
            const rest = () => {
              for (let round = 0; round < 2; round++) {
                absorb();
                runToEnd(view.copyingValues());
                while (hasMore) hasMore = view.bindMore();
              }
              const fresh = testView(tree.source, tree.root, options);
              expect(text()).to.equal(fresh.text());
              runToEnd(fresh.view.closing());
            };
            for (const { action, pick, value } of steps.slice(before)) {
              change(tree, action, pick, value);
              if (action === 'absorb') absorb();
              else if (action === 'bind') {
                absorb();
                for (let left = pick % 20; left >= 0 && hasMore; left--) hasMore = view.bindMore();
              } else if (action === 'refresh') runToEnd(view.copyingValues());
              else if (action === 'render') {
                absorb();
                runToEnd(view.copyingValues());
                runToEnd(view.rendering());
              } else if (action === 'rest') rest();
            }
            rest();
            runToEnd(view.closing());
          },
        ),
        { numRuns: 80, endOnFailure: true },
      ));
});
