// Sends snapshots to the main thread, as addresses of their text in the memory of this thread.
import { deflateBlockAddresses } from '../../exposition/compress/deflate-stream.js';
import { memoize } from '../../exposition/memoize.js';
import type { FamilyMetadata, Snapshot } from '../../model.js';
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

  #newMemory({ families }: Snapshot): SharedArrayBuffer | undefined {
    let grown: SharedArrayBuffer | undefined;
    for (const { textRanges, deflateBlocks } of families) {
      const parts = deflateBlocks?.map(({ data }) => data.buffer) ?? [];
      for (const buffer of textRanges === undefined ? parts : [textRanges.memory, ...parts])
        if (buffer.byteLength > this.#memoryBytes && buffer instanceof SharedArrayBuffer) {
          this.#memoryBytes = buffer.byteLength;
          grown = buffer;
        }
    }
    return grown;
  }
}

/** @param sentMetadata the metadata of the snapshot that was sent before */
function layoutOf(
  snapshot: Snapshot,
  sentMetadata: readonly FamilyMetadata[] | undefined,
): SnapshotLayout {
  const { metadata, families, page, isDeflated, bytes, series, encodings, violatesOpenMetrics } =
    snapshot;
  const ranges: number[] = [];
  families.forEach(({ textRanges }, index) => {
    const own = textRanges?.ranges ?? [];
    for (let i = 0; i < own.length; i += 2) ranges.push(index, own[i] ?? 0, own[i + 1] ?? 0);
  });
  return {
    metadata: metadata === sentMetadata ? undefined : metadata,
    ranges: Uint32Array.from(ranges),
    page: page && Uint32Array.from(page.flatMap(spanOf)),
    deflated: isDeflated === true ? deflateBlockAddresses(families) : undefined,
    ...{ encodings, violatesOpenMetrics, bytes, series },
  };
}

const spanOf = ({ byteOffset, length }: Uint8Array): [start: number, end: number] => [
  byteOffset,
  byteOffset + length,
];
