// Snapshots that cross threads: the thread of a partition sends the addresses of their text in its memory.
import { Fault } from '../../errors.js';
import { memoize } from '../../exposition/memoize.js';
import { releaseOnce } from '../../exposition/text/render-buffer.js';
import { LINE_FORMS } from '../../model.js';
import type { FamilyMetadata, LineForm, Piece, Snapshot } from '../../model.js';

/** See `SnapshotLayout.pieces`. */
const NUMBERS_A_PIECE = 6;

/** Where the text of a snapshot is in the memory of its thread. */
interface SnapshotLayout extends Pick<Snapshot, 'violatesOpenMetrics'> {
  /** The metadata of its families; undefined if the last snapshot of the target has the same list. */
  readonly metadata: readonly FamilyMetadata[] | undefined;
  /**
   * The pieces of each form that was rendered. A piece has six numbers: the index of its family, the number of lines,
   * the address and the length of `data`, then `bytes` and `crc`, which is NaN for none.
   */
  readonly pieces: ReadonlyMap<LineForm, Float64Array<ArrayBuffer>>;
}

/** A snapshot that stays in the memory of its thread while it has holders. */
export interface SentSnapshot {
  readonly target: number;
  /** The number of holders in the main thread; one of them is the report with this snapshot. */
  readonly holders: Int32Array<SharedArrayBuffer>;
  /** Undefined if the last message of the target had the same snapshot. */
  readonly layout: SnapshotLayout | undefined;
  /** The memory, in which all targets of the thread render, if it has grown since the last message. */
  readonly memory: SharedArrayBuffer | undefined;
}

/** The part in the thread of a partition. */
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
    if (last === snapshot) return { target, holders, layout: undefined, memory: undefined };
    this.#last.set(target, snapshot);
    const layout = layoutOf(snapshot, last?.metadata);
    return { target, holders, layout, memory: this.#newMemory(snapshot) };
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
  const pieces = new Map<LineForm, Float64Array<ArrayBuffer>>();
  for (const form of LINE_FORMS) {
    const numbers = snapshot.lines(form)?.flatMap(({ family, lines, data, bytes, crc }) => {
      return [indexes.get(family) ?? 0, lines, data.byteOffset, data.length, bytes, crc ?? NaN];
    });
    if (numbers !== undefined) pieces.set(form, Float64Array.from(numbers));
  }
  return {
    metadata: metadata === sentMetadata ? undefined : metadata,
    pieces,
    violatesOpenMetrics,
  };
}

/** The part in the main thread: makes snapshots that are views of the text in the memory of the thread. */
export class SnapshotReceiver {
  #memory = new SharedArrayBuffer(0);
  /** The snapshot that each target sent last. */
  readonly #last = new Map<number, Snapshot>();

  /** Passes a snapshot to `use`. Then the thread may reuse the snapshot's memory, unless `use` holds the snapshot. */
  receive(
    { target, holders, layout, memory }: SentSnapshot,
    use: (snapshot: Snapshot | undefined) => void,
  ): void {
    this.#memory = memory ?? this.#memory;
    if (layout !== undefined) this.#last.set(target, this.#read(target, holders, layout));
    try {
      use(this.#last.get(target));
    } finally {
      Atomics.sub(holders, 0, 1);
    }
  }

  /** Forgets a target; its snapshots stay while they have holders. */
  forget(target: number): void {
    this.#last.delete(target);
  }

  #read(target: number, holders: SentSnapshot['holders'], layout: SnapshotLayout): Snapshot {
    const { metadata = this.#last.get(target)?.metadata ?? [], violatesOpenMetrics } = layout;
    const lines = new Map<LineForm, readonly Piece[]>();
    for (const [form, numbers] of layout.pieces)
      lines.set(form, piecesAt(numbers, metadata, this.#memory));
    return {
      metadata,
      violatesOpenMetrics,
      lines: (form) => lines.get(form),
      hold: () => addHolder(holders),
    };
  }
}

function piecesAt(
  numbers: Float64Array,
  metadata: readonly FamilyMetadata[],
  memory: SharedArrayBuffer,
): readonly Piece[] {
  const pieces: Piece[] = [];
  for (let i = 0; i < numbers.length; i += NUMBERS_A_PIECE) {
    const [index = 0, lines = 0, at, length, bytes = 0, sent = NaN] = numbers.subarray(i);
    const family = metadata[index];
    const crc = Number.isNaN(sent) ? undefined : sent;
    if (family !== undefined)
      pieces.push({ family, lines, data: Buffer.from(memory, at, length), bytes, crc });
  }
  return pieces;
}

/** @throws Fault NATIVE_FAILED if the snapshot has no holder any more */
function addHolder(holders: SentSnapshot['holders']): () => void {
  if (Atomics.load(holders, 0) === 0)
    throw new Fault('NATIVE_FAILED', 'The text was freed: hold a snapshot while it is received');
  Atomics.add(holders, 0, 1);
  return releaseOnce(() => Atomics.sub(holders, 0, 1));
}
