// Receives snapshots from the thread of a partition, as views of the text in its memory.
import { Fault } from '../../errors.js';
import { releaseOnce } from '../../exposition/text/text-snapshot.js';
import type { FamilyMetadata, LineForm, Piece, Snapshot } from '../../model.js';
import { NUMBERS_A_PIECE } from './messages.js';
import type { SentSnapshot, SnapshotLayout } from './messages.js';

/** The memory of a thread. All targets of the thread render in it. It only grows. */
export interface ThreadMemory {
  buffer: SharedArrayBuffer;
}

/** The snapshots of one target. */
export class SnapshotReceiver {
  readonly #memory: Readonly<ThreadMemory>;
  #last: Snapshot | undefined;

  constructor(memory: Readonly<ThreadMemory>) {
    this.#memory = memory;
  }

  /** Passes a snapshot to `use`. Then the thread may reuse the snapshot's memory, unless `use` holds the snapshot. */
  receive(sent: SentSnapshot | undefined, use: (snapshot: Snapshot | undefined) => void): void {
    if (sent?.layout !== undefined) this.#last = this.#read(sent.holders, sent.layout);
    try {
      use(sent && this.#last);
    } finally {
      if (sent !== undefined) release(sent);
    }
  }

  #read(holders: SentSnapshot['holders'], layout: SnapshotLayout): Snapshot {
    const { metadata = this.#last?.metadata ?? [], pieces, violatesOpenMetrics } = layout;
    const { buffer } = this.#memory;
    const lines = new Map<LineForm, readonly Piece[]>();
    for (const [form, numbers] of pieces) lines.set(form, piecesAt(numbers, metadata, buffer));
    return {
      metadata,
      violatesOpenMetrics,
      lines: (form) => lines.get(form),
      hold: () => addHolder(holders),
    };
  }
}

function piecesAt(
  numbers: Uint32Array,
  metadata: readonly FamilyMetadata[],
  memory: SharedArrayBuffer,
): readonly Piece[] {
  const pieces: Piece[] = [];
  for (let i = 0; i < numbers.length; i += NUMBERS_A_PIECE) {
    const [index = 0, lines = 0, at, length, bytes = 0, crc = 0] = numbers.subarray(i);
    const family = metadata[index];
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
  return releaseOnce(() => release({ holders }));
}

/** Removes a holder of a snapshot. */
export const release = ({ holders }: Pick<SentSnapshot, 'holders'>): number =>
  Atomics.sub(holders, 0, 1);
