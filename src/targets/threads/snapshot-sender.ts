// Sends snapshots to the main thread, as addresses of their text in the memory of this thread.
import { memoize } from '../../exposition/memoize.js';
import { LINE_FORMS } from '../../model.js';
import type { FamilyMetadata, LineForm, Piece, Snapshot } from '../../model.js';
import { NUMBERS_A_PIECE } from './messages.js';
import type { SentSnapshot, SnapshotLayout } from './messages.js';

export class SnapshotSender {
  /** The number of holders of each snapshot in the main thread, including the reports in transit. */
  readonly #holdersOf = memoize<Snapshot, SentSnapshot['holders']>(
    () => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  );
  /** The function that releases a snapshot, for each snapshot that has holders. */
  readonly #held = new Map<Snapshot, () => void>();
  #memoryBytes = 0;
  /** The snapshot that each target sent last. */
  readonly #last = new Map<number, Snapshot>();

  /**
   * Makes the main thread a holder of the snapshot. The message omits data that was in the last message about the
   * target.
   */
  send(target: number, snapshot: Snapshot): SentSnapshot {
    const holders = this.#holdersOf(snapshot);
    Atomics.add(holders, 0, 1);
    if (!this.#held.has(snapshot)) this.#held.set(snapshot, snapshot.hold());
    const last = this.#last.get(target);
    if (last === snapshot) return { holders, layout: undefined, memory: undefined };
    this.#last.set(target, snapshot);
    const layout = layoutOf(snapshot, last?.metadata);
    return { holders, layout, memory: this.#newMemory(snapshot) };
  }

  /** Releases the snapshots without holders. They get no new holders, since only a holder can add a holder. */
  releaseUnheld(): void {
    for (const [snapshot, release] of this.#held) {
      if (Atomics.load(this.#holdersOf(snapshot), 0) > 0) continue;
      this.#held.delete(snapshot);
      release();
    }
  }

  /** Forgets a target; its snapshots stay while they have holders. */
  forget(target: number): void {
    this.#last.delete(target);
  }

  #newMemory(snapshot: Snapshot): SharedArrayBuffer | undefined {
    let grown: SharedArrayBuffer | undefined;
    for (const form of LINE_FORMS)
      for (const { data } of snapshot.lines(form) ?? [])
        if (
          data.buffer.byteLength > this.#memoryBytes &&
          data.buffer instanceof SharedArrayBuffer
        ) {
          this.#memoryBytes = data.buffer.byteLength;
          grown = data.buffer;
        }
    return grown;
  }
}

/** @param sentMetadata the metadata of the snapshot that was sent before */
function layoutOf(
  snapshot: Snapshot,
  sentMetadata: readonly FamilyMetadata[] | undefined,
): SnapshotLayout {
  const { metadata, violatesOpenMetrics } = snapshot;
  const indexes = new Map(metadata.map((family, index) => [family, index]));
  const pieces = new Map<LineForm, Uint32Array<ArrayBuffer>>();
  for (const form of LINE_FORMS) {
    const lines = snapshot.lines(form);
    if (lines !== undefined) pieces.set(form, numbersOf(lines, indexes));
  }
  return {
    metadata: metadata === sentMetadata ? undefined : metadata,
    pieces,
    violatesOpenMetrics,
  };
}

function numbersOf(
  pieces: readonly Piece[],
  indexes: ReadonlyMap<FamilyMetadata, number>,
): Uint32Array<ArrayBuffer> {
  const numbers = new Uint32Array(pieces.length * NUMBERS_A_PIECE);
  pieces.forEach(({ family, lines, data, bytes, crc }, i) => {
    const { byteOffset, length } = data;
    const piece = [indexes.get(family) ?? 0, lines, byteOffset, length, bytes, crc];
    numbers.set(piece, i * NUMBERS_A_PIECE);
  });
  return numbers;
}
