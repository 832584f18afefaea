// Property test: compares the tree of a source with plain lists, while items are added and removed.
import fc from 'fast-check';
import { expect } from 'chai';
import { Budget } from '#app/budget.js';
import { NO_IDENTITY } from '#app/model.js';
import type { Declaration, Variable } from '#app/model.js';
import { Tree } from '#app/native/segment/tree.js';

const declaration = (name: string): Declaration => ({
  name,
  type: 'u64',
  kind: 'unknown',
  unit: '',
  help: '',
  schema: [],
});

/** Gives some variables a frame. */
const frameOf = (id: number) =>
  id % 3 === 0 ? { frameOffset: id % 977, frameWords: 5 } : { frameOffset: 0, frameWords: 0 };

/** A tree and its expected content: the variables of each object, by id. */
class CheckedTree {
  readonly tree = new Tree();
  readonly objects = new Map<number, Variable[]>();
  #lastId = 0;

  /** @param gap how many ids to skip, because other records of the directory may use them */
  addObject(gap: number): void {
    const id = (this.#lastId += 1 + gap);
    const place = { slot: id, incarnation: 1, asOf: undefined };
    this.tree.addObject(
      { ...place, id, name: `o${id}`, className: 'C', identity: NO_IDENTITY },
      undefined,
    );
    this.objects.set(id, []);
  }

  addVariable(pick: number, gap: number): void {
    const [owner, variables] = [...this.objects][pick % Math.max(1, this.objects.size)] ?? [];
    const object = this.tree.object(owner ?? 0);
    if (object === undefined) return;
    const id = (this.#lastId += 1 + gap * 2 ** 31);
    const facts = { id, slot: id % 1000, incarnation: 7, declaration: declaration(`v${id}`) };
    const change = this.tree.addVariable({ ...facts, ...frameOf(id) }, object);
    if (change.kind === 'variable-added') variables?.push(change.variable);
  }

  removeVariable(pick: number): void {
    const all = [...this.objects.values()].flat();
    const variable = all[pick % Math.max(1, all.length)];
    if (variable === undefined) return;
    const change = this.tree.remove(variable.id);
    expect(change).to.deep.include({ kind: 'variable-removed' });
    const left = this.objects.get(variable.object.id) ?? [];
    left.splice(left.indexOf(variable), 1);
    expect(this.tree.remove(variable.id)).to.equal(undefined);
  }

  removeObject(pick: number): void {
    const [id, variables = []] = [...this.objects][pick % Math.max(1, this.objects.size)] ?? [];
    if (id === undefined) return;
    expect(this.tree.remove(id)?.kind).to.equal('object-removed');
    this.objects.delete(id);
    for (const variable of variables) expect(this.tree.remove(variable.id)).to.equal(undefined);
  }

  /** Marks the items for which `names` returns true, and sweeps the others. */
  sweep(names: (id: number) => boolean): void {
    this.tree.beginRound();
    for (const id of this.objects.keys())
      if (names(id)) expect(this.tree.markObject(id)).to.equal(true);
    const all = [...this.objects].flatMap(([id, variables]) =>
      variables.map((variable) => [variable.id, id] as const),
    );
    for (const [id, object] of all.sort(([a], [b]) => a - b))
      if (names(id)) expect(this.tree.markVariable(id, object)).to.equal(true);
    Array.from(this.tree.sweep());
    for (const [id, variables] of this.objects)
      if (names(id))
        this.objects.set(
          id,
          variables.filter((variable) => names(variable.id)),
        );
      else this.objects.delete(id);
  }

  check(): void {
    const variables = [...this.objects.values()].flat();
    expect(this.tree.reclaim(new Budget())).to.equal(false);
    expect(this.tree.size).to.equal(this.objects.size + variables.length);
    for (const [id, own] of this.objects) {
      const object = this.tree.object(id);
      expect([...(object?.variables ?? [])].map(plain)).to.deep.equal(own.map(plain));
      expect(object?.variables.size).to.equal(own.length);
      for (const variable of own) {
        expect(object?.variables.has(variable)).to.equal(true);
        expect(this.tree.frame(variable)).to.deep.equal(frameOf(variable.id));
      }
    }
  }
}

const plain = ({ id, slot, incarnation, name, object }: Variable) => ({
  ...{ id, slot, incarnation, name },
  object: object.id,
});

describe('The tree of a source', () => {
  const step = fc.tuple(
    fc.constantFrom('object', 'variable', 'variable', 'variable', 'less', 'less', 'gone', 'sweep'),
    fc.nat(1000),
    fc.nat(2),
  );

  it('has exactly the items that were added and not removed', () =>
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const checked = new CheckedTree();
        for (const [what, pick, gap] of steps) {
          if (what === 'object') checked.addObject(gap);
          else if (what === 'variable') checked.addVariable(pick, gap);
          else if (what === 'less') checked.removeVariable(pick);
          else if (what === 'gone' && pick % 3 === 0) checked.removeObject(pick);
          else if (what === 'sweep' && pick % 7 === 0)
            checked.sweep((id) => (id * 31 + pick) % 5 > 0);
        }
        checked.check();
      }),
      { numRuns: 60 },
    ));

  it('iterates over the remaining and new variables while others are removed', () => {
    const checked = new CheckedTree();
    checked.addObject(0);
    for (let i = 0; i < 8; i++) checked.addVariable(0, 0);
    const seen: number[] = [];
    const variables = checked.tree.object(1)?.variables ?? [];
    for (const { id } of variables) {
      seen.push(id);
      if (id !== 4) continue;
      for (const gone of [2, 3, 4, 5, 7]) checked.tree.remove(gone);
      for (let i = 0; i < 9; i++) checked.addVariable(0, 0);
    }
    expect(seen).to.deep.equal([2, 3, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
  });

  it('finds the variables of two objects that alternately gain and lose variables', () => {
    const checked = new CheckedTree();
    checked.addObject(0);
    checked.addObject(0);
    for (let i = 0; i < 4000; i++) {
      checked.addVariable(i % 2, 0);
      if (i > 10) checked.removeVariable(0);
    }
    checked.check();
  });
});
