// A tree of managed objects that random steps change, and the lines that a page must show for it.
import type { ManagedObject, Variable } from '#app/model.js';
import { FakeSource } from './fake-source.js';
import type { FakeObject } from './fake-source.js';

export const ROOT = 'h.1.shop';
/** The path, below the root, of the variable whose value `named` returns. */
export const PATH = 'o3.a';
const CLASSES = ['Till', 'Floor'] as const;
/** `a` and `b` are numbers, `c` is a text. */
const NAMES = ['a', 'b', 'c'] as const;

const below = (object: FakeObject): FakeObject[] => [
  object,
  ...[...object.children].flatMap((child) => below(child as FakeObject)),
];

export type TreeStep = readonly [
  action: 'add' | 'variable' | 'remove' | 'drop' | 'store',
  pick: number,
  isSynced: boolean,
];

export class RandomTree {
  readonly source = new FakeSource();
  readonly root = this.source.addObject(ROOT, 'Shop');
  /** Names of removed objects, which new objects reuse. */
  readonly #free: string[] = [];
  readonly #values = new Map<Variable, bigint | string>();
  #count = 0;

  get objects(): readonly FakeObject[] {
    return this.source.roots.has(this.root) ? below(this.root) : [];
  }

  add(pick: number, isSynced: boolean): void {
    const parent = this.#pick(pick);
    const path = this.#free.length > 0 && pick % 2 === 0 ? this.#free.shift() : undefined;
    const name = path ?? `${ROOT}.o${this.#count++}`;
    const className = CLASSES[pick % 2] ?? '';
    const object = this.source.addObject(name, className, { parent, isSynced });
    for (let i = 0; i < pick % 3; i++) this.#store(object, pick + i, isSynced);
  }

  addVariable(pick: number, isSynced: boolean): void {
    this.#store(this.#pick(pick), pick, isSynced);
  }

  remove(pick: number): void {
    const object = this.#pick(pick);
    if (object === this.root) return;
    this.#free.push(...below(object).map(({ name }) => name));
    this.source.remove(object);
  }

  removeVariable(pick: number): void {
    const variable = this.#variable(pick);
    if (variable !== undefined) this.source.remove(variable);
  }

  store(pick: number): void {
    const variable = this.#variable(pick);
    if (variable === undefined) return;
    const value = variable.name === 'c' ? `text ${pick}` : BigInt(pick) * 3n;
    this.#values.set(variable, value);
    this.source.set(variable, value);
    this.source.setSynced(variable, pick % 5 !== 0);
    if (pick % 5 === 0) this.#values.delete(variable);
  }

  /** The lines that a page shows once all changes are bound, as `series value`, in any order. */
  lines(tracks: (object: ManagedObject) => boolean): string[] {
    return this.objects.filter(tracks).flatMap((object) => {
      const last = new Map<string, Variable>();
      for (const variable of object.variables) last.set(variable.name, variable);
      return [...last.values()].flatMap((variable) => this.#line(variable));
    });
  }

  /**
   * The lines that a page may show before all changes are bound. If two variables have the same name, the
   * earlier one may be on the page until the later one is bound.
   */
  get mayShow(): string[] {
    return this.objects.flatMap(({ variables }) =>
      [...variables].flatMap((variable) => this.#line(variable)),
    );
  }

  counts(tracks: (object: ManagedObject) => boolean) {
    const objects = this.objects.filter(tracks);
    const variables = objects.flatMap((object) => [...object.variables]);
    return {
      objects: objects.length,
      variables: variables.length,
      valued: variables.filter((variable) => this.#values.has(variable)).length,
    };
  }

  /** The value of the variable at PATH. */
  get named(): bigint | undefined {
    const owners = this.objects.filter(({ name }) => name === `${ROOT}.o3`);
    const last = [...(owners[0]?.variables ?? [])].filter(({ name }) => name === 'a').at(-1);
    const value = last && this.#values.get(last);
    return typeof value === 'bigint' ? value : undefined;
  }

  #line(variable: Variable): string[] {
    const value = this.#values.get(variable);
    if (value === undefined) return [];
    const { className, name: id } = variable.object;
    // The metric name omits the class if it equals the application.
    const words = className === 'Shop' ? [] : [className.toLowerCase()];
    const name = ['shop', ...words, variable.name].join('_');
    const label = `object="${id === ROOT ? '@root' : id.slice(ROOT.length + 1)}"`;
    if (typeof value === 'bigint') return [`${name}{${label}} ${value}`];
    return [`${name}_info{${label},value="${value}"} 1`];
  }

  #store(object: FakeObject, pick: number, isSynced: boolean): void {
    const name = NAMES[pick % NAMES.length] ?? 'a';
    const value = name === 'c' ? `text ${pick}` : BigInt(pick);
    const type = name === 'c' ? 'string' : 'u64';
    const given = isSynced ? { type, value } : { type };
    const variable = this.source.addVariable(object, name, given as { type: 'u64' });
    if (isSynced) this.#values.set(variable, value);
  }

  #pick(pick: number): FakeObject {
    const { objects } = this;
    return objects[pick % objects.length] ?? this.root;
  }

  #variable(pick: number): Variable | undefined {
    const variables = this.objects.flatMap((object) => [...object.variables]);
    return variables[pick % Math.max(1, variables.length)];
  }
}

/** Applies a step that changes the tree; ignores all other steps. */
export function changeTree(
  tree: RandomTree,
  [action, pick, isSynced]: readonly [action: string, pick: number, isSynced: boolean],
): void {
  if (action === 'add') tree.add(pick, isSynced);
  else if (action === 'variable') tree.addVariable(pick, isSynced);
  else if (action === 'remove') tree.remove(pick);
  else if (action === 'drop') tree.removeVariable(pick);
  else if (action === 'store') tree.store(pick);
}
