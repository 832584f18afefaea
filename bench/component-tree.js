// A tree like that of a large server, for any kind of publisher. After the same number of steps, all trees are equal.
import { generator } from './workload.js';

export const ROOT = 'bench-host.1.bench';
const GROUPS = 50;
/** The share of values that change in each step. */
const CHANGED = 0.05;
/** The share of objects that each step removes and replaces. */
const MOVED = 0.002;
/** Twenty variables with the mix of types in an ADS 3.8. */
const MIX = [
  ...Array(7).fill({
    type: 'i64',
    name: 'cacheEntries',
    next: (before) => (before * 7 + 13) % 1e6,
  }),
  ...Array(6).fill({
    ...{ type: 'u64', kind: 'counter', name: 'messagesReceived' },
    next: (before, random) => before + 1 + Math.floor(random() * 1e5),
  }),
  ...Array(3).fill({ type: 'bool', name: 'isConnected', next: (before) => !before }),
  ...Array(2).fill({
    ...{ type: 'string', name: 'lastRequest' },
    next: (before, random) => `item ${Math.floor(random() * 1e4)}.N`,
  }),
  ...Array(2).fill({
    ...{ type: 'i64', kind: 'gauge', name: 'queueLength' },
    next: (before, random) => Math.floor(random() * 5000) - 1000,
  }),
];

export class ComponentTree {
  #publisher;
  #each;
  #random = generator(1);
  #groups = [];
  /** The objects that a step may remove, each with its variables. */
  #leaves = [];
  #last = 0;

  /** @param publisher the publisher of a segment, or a `ServedTree` */
  constructor(publisher, objects, variables) {
    this.#publisher = publisher;
    this.#each = Math.round(variables / objects);
    const root = publisher.addRoot(ROOT, 'ManagedProcess.Bench');
    this.#fill(root);
    for (let i = 0; i < GROUPS; i++) {
      const group = publisher.addObject(root, `${ROOT}.sourceThread${i}`, 'SourceThread');
      this.#groups.push({ group, variables: this.#fill(group) });
    }
    while (this.#leaves.length + GROUPS + 1 < objects) this.#leaves.push(this.#add());
  }

  /** Applies the changes that a component makes in five seconds. */
  step() {
    const moved = Math.round(this.#leaves.length * MOVED);
    for (let i = 0; i < moved; i++) {
      const index = Math.floor(this.#random() * this.#leaves.length);
      this.#publisher.removeObject(this.#leaves[index].object);
      this.#leaves[index] = this.#add();
    }
    const changed = Math.round(this.#leaves.length * this.#each * CHANGED);
    for (let i = 0; i < changed; i++) {
      const { variables } = this.#leaves[Math.floor(this.#random() * this.#leaves.length)];
      this.#move(variables[Math.floor(this.#random() * variables.length)]);
    }
    this.#publisher.notify();
  }

  #add() {
    const number = ++this.#last;
    const { group } = this.#groups[number % GROUPS];
    const id = `${ROOT}.sourceThread${number % GROUPS}.requestRoute.${number}`;
    const object = this.#publisher.addObject(group, id, `RequestRoute.Type${number % 10}`);
    return { object, variables: this.#fill(object) };
  }

  #fill(object) {
    return Array.from({ length: this.#each }, (_, index) => {
      const { type, kind, name, next } = MIX[index % MIX.length];
      const options = { textBytes: 32, ...(kind && { kind }) };
      const handle = this.#publisher.addVariable(object, `${name}${index}`, type, options);
      const variable = { handle, next, value: type === 'bool' ? false : index };
      this.#move(variable);
      return variable;
    });
  }

  #move(variable) {
    variable.value = variable.next(variable.value, this.#random);
    variable.handle.set(variable.value);
  }
}
