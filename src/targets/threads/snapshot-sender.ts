// Sends snapshots to the main thread: where their text lies in the memory of this thread.
import { madeOnce } from '../../exposition/made-once.js';
import type { FamilyFacts, FamilyText, HeadedText, Snapshot } from '../../model.js';
import { NEW_FAMILY } from './messages.js';
import type { SentSnapshot, TextMap } from './messages.js';

const newCount = (): SentSnapshot['holders'] =>
  new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

export class SnapshotSender {
  /** How many holders the main thread has, with the reports that are on their way. */
  readonly #holders = new WeakMap<Snapshot, SentSnapshot['holders']>();
  /** Releases each snapshot that has holders. */
  readonly #held = new Map<Snapshot, () => void>();
  #memoryBytes = 0;
  /** The snapshot that each target sent last. */
  readonly #last = new Map<
    number,
    { readonly snapshot: Snapshot; readonly families: readonly FamilyText[] }
  >();

  /** Makes the main thread a holder of the snapshot; the message says how it differs from the last. */
  send(target: number, snapshot: Snapshot): SentSnapshot {
    const holders = madeOnce(this.#holders, snapshot, newCount);
    Atomics.add(holders, 0, 1);
    if (!this.#held.has(snapshot)) this.#held.set(snapshot, snapshot.hold());
    const last = this.#last.get(target);
    if (last?.snapshot === snapshot) return { holders, text: undefined, memory: undefined };
    const { families } = snapshot;
    this.#last.set(target, { snapshot, families });
    const text = textMapOf(snapshot, last?.families ?? []);
    return { holders, text, memory: this.#grownMemory(snapshot) };
  }

  /** Releases the snapshots that have no holder any more; none can come back, as only a holder makes another. */
  releaseUnheld(): void {
    for (const [snapshot, release] of this.#held) {
      const holders = this.#holders.get(snapshot);
      if (holders !== undefined && Atomics.load(holders, 0) > 0) continue;
      this.#held.delete(snapshot);
      release();
    }
  }

  /** Forgets a target; its snapshots stay while they have holders. */
  forget(target: number): void {
    this.#last.delete(target);
  }

  #grownMemory({ families, forms }: Snapshot): SharedArrayBuffer | undefined {
    let grown: SharedArrayBuffer | undefined;
    for (const family of families) {
      const parts = family.deflated?.parts.map(({ data }) => data.buffer) ?? [];
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

/** @param before the families of the snapshot that was sent before */
function textMapOf(snapshot: Snapshot, before: readonly FamilyText[]): TextMap {
  const { families, page, bytes, series, forms, hasForbidden } = snapshot;
  const code = families[0]?.deflated?.code.lengths;
  const places = placesIn(before, families);
  const placeOf = (index: number) => (places === undefined ? index : (places[index] ?? NEW_FAMILY));
  const changed = families.flatMap((family, index) =>
    family === before[placeOf(index)] ? [] : [{ family, index }],
  );
  // Text that is not ready is not made for this.
  const texts = forms.text ? changed : [];
  const spans = texts.flatMap(({ family, index }) =>
    headedOf(family).spans.flatMap((at, i) => (i % 2 === 0 ? [index, at] : [at])),
  );
  const parts = changed.flatMap(({ family: { deflated }, index }) =>
    (deflated?.parts ?? []).flatMap(({ data, ...part }) => [
      ...[index, data.byteOffset, data.length],
      ...[part.bits, part.crc, part.bytes],
    ]),
  );
  return {
    places,
    facts: families.filter((_, index) => placeOf(index) === NEW_FAMILY).map(({ facts }) => facts),
    spans: Uint32Array.from(spans),
    page: page && Uint32Array.from(page.flatMap(spanOf)),
    deflated: code && Uint32Array.from(parts),
    ...{ forms, code, hasForbidden, bytes, series },
  };
}

const spanOf = ({ byteOffset, length }: Uint8Array): [start: number, end: number] => [
  byteOffset,
  byteOffset + length,
];

/** Text is rendered below its header. */
function headedOf({ headed, facts }: FamilyText): HeadedText {
  if (headed === undefined) throw new RangeError(`${facts.name} was not rendered`);
  return headed;
}

/** The place of each family among those before; undefined for the same ones. */
function placesIn(
  before: readonly FamilyText[],
  families: readonly FamilyText[],
): TextMap['places'] {
  const isSame =
    before.length === families.length &&
    families.every(({ facts }, index) => facts === before[index]?.facts);
  if (isSame) return undefined;
  const known = new Map<FamilyFacts, number>();
  before.forEach(({ facts }, index) => known.set(facts, index));
  return Int32Array.from(families, ({ facts }) => known.get(facts) ?? NEW_FAMILY);
}
