// Lends snapshots to another thread: holds each until it was given back as often as it was lent.
import type { FamilyText, Snapshot } from '../../model.js';
import type { Lent } from './messages.js';
import { headedOf, textMapOf } from './text-map.js';

interface Loan {
  readonly release: () => void;
  times: number;
}

export class SnapshotLender {
  readonly #ids = new WeakMap<Snapshot, number>();
  readonly #loans = new Map<number, Loan>();
  #lastId = 0;
  #memoryBytes = 0;
  /** What each target lent last. */
  readonly #last = new Map<
    number,
    { readonly id: number; readonly families: readonly FamilyText[] }
  >();

  lend(target: number, snapshot: Snapshot): Lent {
    const id = this.#ids.get(snapshot) ?? ++this.#lastId;
    this.#ids.set(snapshot, id);
    const loan = this.#loans.get(id);
    if (loan === undefined) this.#loans.set(id, { release: snapshot.hold(), times: 1 });
    else loan.times++;
    const last = this.#last.get(target);
    if (last?.id === id) return { id, text: undefined, memory: undefined };
    const { families } = snapshot;
    this.#last.set(target, { id, families });
    const text = textMapOf(snapshot, last?.families ?? []);
    return { id, text, memory: this.#grownMemory(snapshot) };
  }

  giveBack(id: number, times: number): void {
    const loan = this.#loans.get(id);
    if (loan === undefined) return;
    loan.times -= times;
    if (loan.times > 0) return;
    this.#loans.delete(id);
    loan.release();
  }

  /** Forgets a target; what it lent stays lent. */
  forget(target: number): void {
    this.#last.delete(target);
  }

  #grownMemory({ families, forms }: Snapshot): SharedArrayBuffer | undefined {
    let grown: SharedArrayBuffer | undefined;
    for (const family of families) {
      const parts = family.deflated?.map(({ data }) => data.buffer) ?? [];
      // Text that is not ready is not made for this.
      const texts = forms.text ? [headedOf(family).memory] : [];
      for (const buffer of [...texts, ...parts])
        if (buffer.byteLength > this.#memoryBytes && buffer instanceof SharedArrayBuffer) {
          this.#memoryBytes = buffer.byteLength;
          grown = buffer;
        }
    }
    return grown;
  }
}
