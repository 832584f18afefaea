// Lends snapshots to another thread: holds each until it was given back as often as it was lent.
import type { FamilyFacts, Snapshot } from '../../model.js';
import type { Lent, TextMap } from './messages.js';

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
  readonly #last = new Map<number, { readonly id: number; readonly facts: FamilyFacts[] }>();

  lend(target: number, snapshot: Snapshot): Lent {
    const id = this.#ids.get(snapshot) ?? ++this.#lastId;
    this.#ids.set(snapshot, id);
    const loan = this.#loans.get(id);
    if (loan === undefined) this.#loans.set(id, { release: snapshot.hold(), times: 1 });
    else loan.times++;
    const last = this.#last.get(target);
    if (last?.id === id) return { id, text: undefined, memory: undefined };
    const facts = snapshot.families.map((family) => family.facts);
    this.#last.set(target, { id, facts });
    const isSame =
      facts.length === last?.facts.length && facts.every((each, i) => each === last.facts[i]);
    const text = { ...mapOf(snapshot), facts: isSame ? undefined : facts };
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
      const parts = family.deflated?.map(({ data }) => data) ?? [];
      for (const { buffer } of forms.text ? [...family.pieces, ...parts] : parts)
        if (buffer.byteLength > this.#memoryBytes && buffer instanceof SharedArrayBuffer) {
          this.#memoryBytes = buffer.byteLength;
          grown = buffer;
        }
    }
    return grown;
  }
}

function mapOf({ families, bytes, series, forms, code }: Snapshot): Omit<TextMap, 'facts'> {
  // Text that is not ready is not made for this.
  const texts = forms.text ? families : [];
  const count = texts.reduce((sum, { pieces }) => sum + pieces.length, 0);
  const pieces = new Uint32Array(count * 3);
  let at = 0;
  texts.forEach((family, index) => {
    for (const { byteOffset, length } of family.pieces) {
      pieces[at++] = index;
      pieces[at++] = byteOffset;
      pieces[at++] = length;
    }
  });
  const deflated =
    code &&
    Uint32Array.from(
      families.flatMap(({ deflated = [] }, index) =>
        deflated.flatMap(({ data, ...part }) => [
          ...[index, data.byteOffset, data.length],
          ...[part.bits, part.crc, part.bytes],
        ]),
      ),
    );
  return { pieces, deflated, forms, code, bytes, series };
}
