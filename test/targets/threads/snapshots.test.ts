// Snapshots that one thread sends to another.
import { expect } from 'chai';
import fc from 'fast-check';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { LINE_FORMS } from '#app/model.js';
import type { FamilyMetadata, LineForm, Piece, Snapshot } from '#app/model.js';
import { SnapshotReceiver, SnapshotSender } from '#app/targets/threads/snapshots.js';
import { snapshotOf } from '../../support/snapshot-of.js';

const TARGET = 1;
const FAMILIES = 30;
/** The size of an allocation. The memory grows after several of them. */
const STEP_BYTES = 65_536;
/** The memory grows no more from this size, which is half of its limit. */
const MOST_BYTES = 2 ** 26;

const METADATA = Array.from({ length: FAMILIES }, (_, index): FamilyMetadata => {
  return { name: `f${index}`, type: 'gauge', unit: '', help: '' };
});

const metadataOf = (index: number): FamilyMetadata => {
  const metadata = METADATA[index];
  if (metadata === undefined) throw new RangeError(`no family ${index}`);
  return metadata;
};

/** The memory of a thread, which writes pieces and sends snapshots to a receiver. */
class Threads {
  readonly #kernel = new Kernel(2048);
  readonly sender = new SnapshotSender();
  readonly receiver = new SnapshotReceiver();
  held = 0;

  /** @param grows whether the memory grows before the piece is written */
  piece(index: number, content: string, grows = false): Piece {
    const { arena, bytes } = this.#kernel;
    const mayGrow = grows && bytes.length < MOST_BYTES;
    while (mayGrow && this.#kernel.bytes.length === bytes.length) arena.allocate(STEP_BYTES);
    const data = this.#kernel.view(arena.allocate(content.length), content.length);
    data.write(content);
    const family = metadataOf(index);
    return { family, lines: content.length, data, bytes: index + 7, crc: 0xffff_ff00 + index };
  }

  snapshot(
    lines: Readonly<Partial<Record<LineForm, readonly Piece[]>>>,
    more: Partial<Snapshot> = {},
  ): Snapshot {
    const all = LINE_FORMS.flatMap((form) => lines[form] ?? []);
    const text = lines.text?.map((piece) => ({ ...piece, crc: undefined }));
    const ofForm = (form: LineForm) => (form === 'text' ? text : lines[form]);
    return {
      ...snapshotOf(all, { lines: ofForm, hold: () => this.#hold() }),
      ...more,
    };
  }

  /** Sends a snapshot and returns the message and the received snapshot. */
  send(snapshot: Snapshot) {
    const sent = this.sender.send(TARGET, snapshot);
    const arrived: { snapshot?: Snapshot | undefined } = {};
    this.receiver.receive(structuredClone(sent), (received) => {
      arrived.snapshot = received;
    });
    this.sender.releaseUnheld();
    return { layout: sent.layout, received: arrived.snapshot };
  }

  #hold(): () => void {
    this.held++;
    return () => {
      this.held--;
    };
  }
}

/** Each form of a snapshot with its pieces. */
const shown = (snapshot: Snapshot | undefined) =>
  LINE_FORMS.map((form) =>
    snapshot?.lines(form)?.map(({ family, data, ...others }) => {
      return { ...others, name: family.name, data: Buffer.from(data).toString() };
    }),
  );

describe('a snapshot that a thread sends', () => {
  it('arrives unchanged, whatever earlier snapshots contained, and even if the memory grows between its pieces', () => {
    const pieces = fc
      .array(
        fc.tuple(
          fc.nat({ max: FAMILIES - 1 }),
          fc.string({ unit: 'grapheme-ascii' }),
          fc.boolean(),
        ),
        {
          maxLength: 6,
        },
      )
      .map((all) => all.toSorted(([a], [b]) => a - b));
    const lines = fc.record({ text: fc.option(pieces), deflated: fc.option(pieces) });
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 8 }), (all) => {
        const threads = new Threads();
        const written = (some: (readonly [number, string, boolean])[] | null) =>
          some?.map(([index, content, grows]) => threads.piece(index, content, grows));
        for (const { text, deflated } of all) {
          const [texts, blocks] = [written(text), written(deflated)];
          const snapshot = threads.snapshot({
            ...(texts !== undefined && { text: texts }),
            ...(blocks !== undefined && { deflated: blocks }),
          });
          const { received } = threads.send(snapshot);
          expect(shown(received)).to.deep.equal(shown(snapshot));
          expect(received?.metadata).to.deep.equal(snapshot.metadata);
        }
        expect(threads.held, 'none of them is held').to.equal(0);
      }),
      { numRuns: 20 },
    );
  });

  it('is sent without the metadata of its families if the list of families has not changed', () => {
    const threads = new Threads();
    const text = (version: number) =>
      METADATA.map(({ name }, index) => threads.piece(index, `${name} ${version}\n`));
    const first = threads.snapshot({ text: text(1) });
    expect(threads.send(first).layout?.metadata).to.deep.equal(METADATA);
    const second = threads.snapshot({ text: text(2) }, { metadata: first.metadata });
    const { layout, received } = threads.send(second);
    expect(layout?.metadata).to.equal(undefined);
    expect(received?.metadata).to.deep.equal(first.metadata);
    expect(shown(received)).to.deep.equal(shown(second));
  });

  it('arrives as views of the memory that both threads share', () => {
    const threads = new Threads();
    const piece = threads.piece(3, 'f3 1\n');
    const { received } = threads.send(threads.snapshot({ text: [piece] }));
    const [arrived] = received?.lines('text') ?? [];
    expect(arrived?.data.byteOffset).to.equal(piece.data.byteOffset);
    Buffer.from(piece.data.buffer).write('f3 2', piece.data.byteOffset);
    expect(Buffer.from(arrived?.data ?? []).toString()).to.equal('f3 2\n');
  });

  it('arrives with the flag for values that OpenMetrics forbids', () => {
    const threads = new Threads();
    for (const violatesOpenMetrics of [true, false]) {
      const snapshot = threads.snapshot({ text: [] }, { violatesOpenMetrics });
      expect(threads.send(snapshot).received?.violatesOpenMetrics).to.equal(violatesOpenMetrics);
    }
  });

  it('is kept while it is held, and then released', () => {
    const threads = new Threads();
    const first = threads.send(threads.snapshot({ text: [threads.piece(3, 'f3 1\n')] }));
    expect(() => first.received?.hold()).to.throw('The text was freed');
    const kept = threads.snapshot({ text: [threads.piece(3, 'f3 2\n')] });
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
});
