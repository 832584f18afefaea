// Snapshots that one thread sends to another.
import { expect } from 'chai';
import fc from 'fast-check';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { RenderedFamily } from '#app/exposition/text/family-text.js';
import { headerOf } from '#app/exposition/text/text-syntax.js';
import type { Encodings, FamilyMetadata, FamilyText, Snapshot } from '#app/model.js';
import { SnapshotReceiver } from '#app/targets/threads/snapshot-receiver.js';
import type { ThreadMemory } from '#app/targets/threads/snapshot-receiver.js';
import { SnapshotSender } from '#app/targets/threads/snapshot-sender.js';
import { snapshotOf } from '../../support/snapshot-of.js';

const TARGET = 1;
const FAMILIES = 30;
const BYTES_A_TEXT = 64;
/** The size of an allocation. The memory grows after several of them. */
const STEP_BYTES = 65_536;

/** Creates a thread's shared memory with one text per family and version, a sender and a receiver. */
class Threads {
  readonly memory = new SharedArrayBuffer(2 ** 16);
  readonly sender = new SnapshotSender();
  readonly receiver = new SnapshotReceiver({ buffer: this.memory });
  readonly metadata: readonly FamilyMetadata[] = Array.from({ length: FAMILIES }, (_, index) => {
    return { name: `f${index}`, type: 'gauge', unit: '', help: '' };
  });
  readonly #texts = new Map<number, FamilyText>();
  held = 0;

  snapshot(chosen: readonly (readonly [index: number, version: number])[]): Snapshot {
    const families = chosen.map(([index, version]) => this.#text(index, version));
    return snapshotOf(families, {
      hold: () => {
        this.held++;
        return () => {
          this.held--;
        };
      },
    });
  }

  /** Sends a snapshot and returns the message and the received snapshot. */
  send(snapshot: Snapshot) {
    const sent = this.sender.send(TARGET, snapshot);
    const arrived: { snapshot?: Snapshot | undefined } = {};
    this.receiver.receive(structuredClone(sent), (received) => {
      arrived.snapshot = received;
    });
    const { snapshot: received } = arrived;
    this.sender.releaseUnheld();
    return { sent: sent.layout, received, arrived: received?.families ?? [] };
  }

  #text(index: number, version: number): FamilyText {
    const key = version * FAMILIES + index;
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const at = key * BYTES_A_TEXT;
    const bytes = Buffer.from(this.memory, at, BYTES_A_TEXT);
    const metadata = this.metadata[index] ?? { name: '', type: 'gauge', unit: '', help: '' };
    const header = headerOf(metadata);
    const end = at + bytes.write(`${header.text}f${index} ${version}\n`);
    const text = new RenderedFamily(metadata, { header, memory: this.memory, ranges: [at, end] });
    this.#texts.set(key, text);
    return text;
  }
}

const ENCODINGS: readonly Encodings[] = [
  { text: true, deflated: false },
  { text: false, deflated: true },
  { text: true, deflated: true },
];
/** Whether the memory grows before the text and before the deflate block of a family. */
const growths = fc.record({ text: fc.boolean(), block: fc.boolean() });

/** Families whose texts and deflate blocks are in a memory that grows between them. */
class GrowingMemory {
  readonly #kernel = new Kernel({ maxPages: 2048 });

  family(
    number: number,
    { text, deflated }: Encodings,
    grows: { readonly text: boolean; readonly block: boolean },
  ): FamilyText {
    const metadata: FamilyMetadata = { name: `f${number}`, type: 'gauge', unit: '', help: '' };
    const header = headerOf(metadata);
    const lines = text ? this.#write(`${header.text}f ${number}\n`, grows.text) : undefined;
    const data = deflated ? this.#write(`block ${number}`, grows.block) : undefined;
    const ranges = lines && [lines.byteOffset, lines.byteOffset + lines.length];
    return new RenderedFamily(
      metadata,
      lines && ranges && { header, memory: lines.buffer, ranges },
      data && [{ data, crc: 0, bytes: data.length }],
    );
  }

  #write(content: string, grows: boolean): Buffer {
    const { arena, bytes } = this.#kernel;
    while (grows && this.#kernel.bytes.length === bytes.length) arena.allocate(STEP_BYTES);
    const data = this.#kernel.view(arena.allocate(content.length), content.length);
    data.write(content);
    return data;
  }
}

const shown = (families: readonly FamilyText[]) =>
  families.map(({ metadata, buffers }) => [metadata.name, Buffer.concat(buffers).toString()]);

describe('a snapshot that a thread sends', () => {
  it('arrives unchanged, whatever families each earlier snapshot has', () => {
    const list = fc.uniqueArray(
      fc.tuple(fc.nat({ max: FAMILIES - 1 }), fc.integer({ min: 1, max: 4 })),
      { selector: ([index]) => index },
    );
    fc.assert(
      fc.property(fc.array(list, { maxLength: 20 }), (lists) => {
        const threads = new Threads();
        for (const chosen of lists) {
          const snapshot = threads.snapshot(chosen);
          const { arrived } = threads.send(snapshot);
          expect(shown(arrived)).to.deep.equal(shown(snapshot.families));
          expect(arrived.map(({ textRanges }) => textRanges)).to.deep.equal(
            snapshot.families.map(({ textRanges }) => textRanges),
          );
        }
        expect(threads.held, 'none of them is held').to.equal(0);
      }),
    );
  });

  it('is sent without the metadata of its families if the list of families has not changed', () => {
    const threads = new Threads();
    const all = Array.from({ length: FAMILIES }, (_, index) => [index, 1] as const);
    const first = threads.snapshot(all);
    expect(threads.send(first).sent?.metadata).to.deep.equal(threads.metadata);
    const second = threads.snapshot(all.map(([index]) => [index, 2] as const));
    const { sent, received, arrived } = threads.send({ ...second, metadata: first.metadata });
    expect(sent?.metadata).to.equal(undefined);
    expect(received?.metadata).to.deep.equal(first.metadata);
    expect(shown(arrived)).to.deep.equal(shown(second.families));
  });

  it('arrives with its page in the memory that both threads share', () => {
    const threads = new Threads();
    const families = threads.snapshot([[3, 1]]).families;
    for (const page of [[16, 40, 56], [], undefined]) {
      const buffers = page?.map((at) => Buffer.from(threads.memory, at, 24));
      const { received } = threads.send(snapshotOf(families, { page: buffers }));
      const spans = received?.page?.map(({ byteOffset, length }) => [byteOffset, length]);
      expect(spans).to.deep.equal(page?.map((at) => [at, 24]));
      expect(received?.page?.every(({ buffer }) => buffer === threads.memory)).not.to.equal(false);
      expect(received?.metadata).to.deep.equal(families.map(({ metadata }) => metadata));
    }
  });

  it('arrives with the flag for values that OpenMetrics forbids', () => {
    const threads = new Threads();
    const families = threads.snapshot([[3, 1]]).families;
    for (const violatesOpenMetrics of [true, false])
      expect(
        threads.send(snapshotOf(families, { violatesOpenMetrics })).received?.violatesOpenMetrics,
      ).to.equal(violatesOpenMetrics);
  });

  it('is kept while it is held, and then released', () => {
    const threads = new Threads();
    const first = threads.send(threads.snapshot([[3, 1]]));
    expect(() => first.received?.hold()).to.throw('The text was freed');
    const kept = threads.snapshot([[3, 2]]);
    const releases: (() => void)[] = [];
    for (let times = 0; times < 2; times++)
      threads.receiver.receive(threads.sender.send(TARGET, kept), (snapshot) => {
        releases.push(snapshot?.hold() ?? (() => undefined));
      });
    for (const release of releases) {
      threads.sender.releaseUnheld();
      expect(threads.held).to.equal(1);
      release();
      release();
    }
    threads.sender.releaseUnheld();
    expect(threads.held).to.equal(0);
    threads.receiver.receive(threads.sender.send(TARGET, kept), (snapshot) => {
      releases.push(snapshot?.hold() ?? (() => undefined));
    });
    threads.sender.releaseUnheld();
    expect(threads.held, 'sent again').to.equal(1);
  });

  it('arrives unchanged, even if the memory grows between the allocations of its texts and deflate blocks', () => {
    const some = fc.array(growths, { minLength: 1, maxLength: 3 });
    const snapshots = fc.array(fc.tuple(fc.constantFrom(...ENCODINGS), some), { maxLength: 6 });
    /**
     * The texts and deflate blocks of each family. Without texts, `buffers` would inflate the deflate
     * blocks.
     */
    const contents = ({ families, encodings }: Snapshot) =>
      families.map((family) => [
        ...(encodings.text ? family.buffers : []).map(String),
        ...(family.deflateBlocks ?? []).map(({ data }) => String(data)),
      ]);
    fc.assert(
      fc.property(snapshots, (all) => {
        const memory = new GrowingMemory();
        const sender = new SnapshotSender();
        const received: ThreadMemory = { buffer: new SharedArrayBuffer(0) };
        const receiver = new SnapshotReceiver(received);
        let count = 0;
        for (const [encodings, grown] of all) {
          const families = grown.map((grows) => memory.family(count++, encodings, grows));
          const snapshot = snapshotOf(families, { encodings, isDeflated: encodings.deflated });
          const sent = structuredClone(sender.send(TARGET, snapshot));
          received.buffer = sent.memory ?? received.buffer;
          receiver.receive(sent, (arrived) => {
            expect(arrived && contents(arrived)).to.deep.equal(contents(snapshot));
          });
        }
      }),
      { numRuns: 30 },
    );
  });
});
