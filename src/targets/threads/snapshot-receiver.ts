// Receives snapshots from the thread of a partition, as views of the text in its memory.
import { Fault } from '../../errors.js';
import { deflateBlocksAt } from '../../exposition/compress/deflate-stream.js';
import { RenderedFamily } from '../../exposition/text/family-text.js';
import { headerOf } from '../../exposition/text/text-syntax.js';
import { releaseOnce } from '../../exposition/text/text-snapshot.js';
import type { FamilyText, Snapshot } from '../../model.js';
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

  #read(
    holders: SentSnapshot['holders'],
    { metadata = this.#last?.metadata ?? [], ranges, page, deflated, ...sizes }: SnapshotLayout,
  ): Snapshot {
    const { buffer: memory } = this.#memory;
    const blocks = deflated && deflateBlocksAt(deflated, memory, metadata.length);
    const texts = metadata.map((): number[] => []);
    for (let i = 0; i < ranges.length; i += 3)
      texts[ranges[i] ?? 0]?.push(ranges[i + 1] ?? 0, ranges[i + 2] ?? 0);
    const families = metadata.map((each, index): FamilyText => {
      const header = headerOf(each);
      const textRanges = { header, memory, ranges: texts[index] ?? [] };
      return new RenderedFamily(
        each,
        sizes.encodings.text ? textRanges : undefined,
        blocks?.[index],
      );
    });
    return {
      ...sizes,
      metadata,
      families,
      page: page && buffersAt(page, memory),
      isDeflated: blocks !== undefined,
      hold: () => addHolder(holders),
    };
  }
}

function buffersAt(ranges: Uint32Array, memory: SharedArrayBuffer): readonly Uint8Array[] {
  const buffers: Uint8Array[] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    const start = ranges[i] ?? 0;
    buffers.push(Buffer.from(memory, start, (ranges[i + 1] ?? 0) - start));
  }
  return buffers;
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
