import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import type { ManagedObject } from '#app/model.js';
import { posixMemory } from '#app/native/os/posix.js';
import { readHeader } from '#app/native/segment/segment-header.js';
import type { SegmentHeader } from '#app/native/segment/segment-header.js';
import { SegmentSource } from '#app/native/segment/segment-source.js';
import { DirectoryReader } from '#app/native/segment/directory-reader.js';
import { RECORD_WORDS, segmentName } from '#app/native/segment/layout.js';
import { RecordParser } from '#app/native/segment/record-parser.js';
import type { SegmentFile } from '#app/native/os/shared-memory.js';
import { readScenario } from '#app/simulator/scenario.js';
import { stageOf } from '#app/simulator/simulation.js';
import type { CountedRead } from '../support/counting-memory.js';
import { PROJECT } from '../support/processes.js';
import { Publishers } from '../support/publishers.js';
import { Served } from '../support/served.js';
import { shows } from './shows.js';
import { needs } from '../support/needs.js';

const RECORDED = join(PROJECT, '../shared/data/adh-3.8-recorded.scenario.json');
const ROOT = 'lseg1.bgp59.com.1.adh';
/** The reader copies values and words in pages of 512 slots. */
const PAGE_SLOTS = 512;
const BYTES_A_SLOT = 8 + 4;

/**
 * The objects of each class in the recorded tree, as seed paths, and whether the rows of the class show
 * texts.
 */
const CLASSES = {
  process: { seedPaths: [''], hasTexts: true },
  server: {
    seedPaths: [
      'source.server.rest.transmissionBus',
      'sourceApplicationPool.sslDispatcher.source.server.ipc.transmissionBus',
    ],
    hasTexts: false,
  },
  transport_thread: { seedPaths: ['transportThread.1'], hasTexts: false },
};

describe('a filter on a recorded tree', function () {
  const publishers = new Publishers();
  const name = segmentName(publishers.contextId, 'pool', '80');
  let header: SegmentHeader;
  let objects: readonly ManagedObject[] = [];
  /** The offset of each text's frame in 8-byte units, by the variable's id. */
  let textFrames: ReadonlyMap<number, number> = new Map();
  let served: Served | undefined;

  before('the recorded scenario is in ../shared/data', function () {
    needs(this, existsSync(RECORDED), 'the recorded tree is not beside the project');
    const publisher = publishers.make('80');
    stageOf(publisher, readScenario(RECORDED));
    publisher.place();
    const file = posixMemory().open(name);
    if (file === undefined) throw new Error(`${name} is not there`);
    header = readHeader(file);
    const source = new SegmentSource(file, header);
    while (source.readChanges().hasMore);
    textFrames = textFramesOf(file, header);
    file.close();
    objects = [...source.roots].flatMap(withAllBelow);
  });
  afterEach(() => served?.leave());
  after(() => {
    publishers.closeAll();
  });

  /** Returns a ready target that exports only this class and reads values only on demand. */
  const follow = (alias: string): Served => {
    const catalogue = loadCatalogues().get('adh')?.source;
    const filter = { app: 'adh', serverKeys: ['80'], classes: [alias] };
    served = new Served(publishers, { ...filter, catalogue });
    expect(served.answer(({ kind }) => kind)).to.equal('ready');
    return served;
  };
  const chosenOf = (seedPaths: readonly string[]): readonly ManagedObject[] => {
    const ids = seedPaths.map((path) => (path === '' ? ROOT : `${ROOT}.${path}`));
    return objects.filter((object) => ids.includes(object.name));
  };
  /** The offsets of the frames with an object's texts. */
  const framesOf = ({ variables }: ManagedObject): number[] =>
    [...variables].flatMap(({ id }) => textFrames.get(id) ?? []);
  /**
   * The pages with the slots of these objects, and the page with the root's "as of" time, which is always
   * read.
   */
  const pagesFor = (chosen: readonly ManagedObject[]): ReadonlySet<number> => {
    const asOf = objects.find((object) => object.name === ROOT)?.asOf?.slot ?? 0;
    return pagesOf([...chosen.flatMap(slotsOf), asOf]);
  };
  /** The indexes of the entries that were read in a region, for example of slots. */
  const entries = (reads: readonly CountedRead[], region: number, count: number, bytes: number) =>
    new Set(
      reads
        .map(({ position, length }) => ({ first: (position - region) / bytes, length }))
        .filter(({ first }) => first >= 0 && first < count)
        .flatMap(({ first, length }) =>
          Array.from({ length: length / bytes }, (_, index) => first + index),
        ),
    );

  shows('1.8', () => {
    for (const [alias, { seedPaths, hasTexts }] of Object.entries(CLASSES))
      describe(`for the class "${alias}",`, () => {
        it('the target tracks and counts only objects of the class and their variables', () => {
          const chosen = chosenOf(seedPaths);
          expect(chosen).to.have.lengthOf(seedPaths.length);
          const variables = chosen.reduce((sum, object) => sum + object.variables.size, 0);
          expect(follow(alias).target.status().progress).to.deep.equal({
            objects: { synced: chosen.length, total: chosen.length },
            variables: { synced: variables, total: variables },
            reason: '',
          });
        });

        it('the target reads only memory pages with slots of the class', () => {
          const { reads } = follow(alias).memory;
          const chosen = chosenOf(seedPaths);
          const wanted = pagesFor(chosen);
          // The next check proves something only if most pages of the tree have no slot of the class.
          expect(wanted.size).to.be.below(pagesOf(objects.flatMap(slotsOf)).size / 3);
          for (const [region, bytes] of [
            [header.slots, 8],
            [header.words, 4],
          ] as const) {
            const slots = entries(reads, region, header.slotCapacity, bytes);
            expect(pagesOf(slots)).to.deep.equal(wanted);
            expect([...slots]).to.include.members(chosen.flatMap(slotsOf));
          }
        });

        it('the target reads only texts of the class', () => {
          const { reads } = follow(alias).memory;
          const count = header.frameCapacity / 8;
          const read = [...entries(reads, header.frames, count, 8)];
          const own = new Set(chosenOf(seedPaths).flatMap(framesOf));
          const others = new Set(objects.flatMap(framesOf).filter((frame) => !own.has(frame)));
          expect(others.size).to.be.above(100);
          expect(read.filter((frame) => others.has(frame))).to.deep.equal([]);
          expect(read.length > 0).to.equal(hasTexts);
        });

        it('a scrape copies only memory pages with slots of the class', () => {
          const target = follow(alias);
          const { reads } = target.memory;
          const before = reads.length;
          expect(target.answer(({ kind }) => kind)).to.equal('ready');
          const copied = reads
            .slice(before)
            .filter(({ position }) => position >= Math.min(header.words, header.slots))
            .reduce((sum, { length }) => sum + length, 0);
          const most = pagesFor(chosenOf(seedPaths)).size * PAGE_SLOTS * BYTES_A_SLOT;
          expect(copied).to.be.within(1, most);
        });
      });
  });
});

const withAllBelow = (object: ManagedObject): ManagedObject[] => [
  object,
  ...[...object.children].flatMap(withAllBelow),
];
const slotsOf = ({ slot, variables }: ManagedObject): number[] => [
  slot,
  ...[...variables].map((variable) => variable.slot),
];
const pagesOf = (slots: Iterable<number>): ReadonlySet<number> =>
  new Set([...slots].map((slot) => Math.floor(slot / PAGE_SLOTS)));

function textFramesOf(file: SegmentFile, header: SegmentHeader): ReadonlyMap<number, number> {
  const directory = new DirectoryReader(file, header);
  const parser = new RecordParser(header, directory);
  const frames = new Map<number, number>();
  for (let batch = directory.next(); batch !== undefined; batch = directory.next())
    for (let at = 0; at < batch.words.length; at += RECORD_WORDS) {
      const index = batch.firstIndex + at / RECORD_WORDS;
      const record = parser.parse(batch.words, at, index);
      if (record.kind !== 'variable' || record.declaration.type !== 'string') continue;
      frames.set(record.id, record.frameOffset);
    }
  return frames;
}
