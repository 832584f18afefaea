// Tests the pages of a snapshot: their buffers, their sizes, and how long they hold the snapshot.
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { deflateBlockOf } from '#app/exposition/compress/deflate-stream.js';
import { OPEN_METRICS, openMetricsHeader } from '#app/exposition/page/open-metrics.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import { RenderedFamily } from '#app/exposition/text/family-text.js';
import { headerOf } from '#app/exposition/text/text-syntax.js';
import type { FamilyMetadata, FamilyText, Page, ReadyAnswer } from '#app/model.js';
import { internalFamilies } from '#app/targets/internal-metrics.js';
import { FakeTarget } from '../../support/fake-target.js';
import { familyText, snapshotOf } from '../../support/snapshot-of.js';

const textOf = (page: Page): string => Buffer.concat(page.buffers).toString();

describe('a page of text 0.0.4', () => {
  const status = new FakeTarget().status();
  const own = (value: number) =>
    internalFamilies([{ name: 'own', type: 'gauge', help: 'Own.', value }], status);
  /** Returns an exposition of families with these buffers, and a count of the holds on its snapshot. */
  const exposing = (...families: readonly (readonly string[])[]) => {
    const held = { count: 0 };
    const texts = families.map((buffers, index) =>
      familyText(
        { name: `f${index}`, type: 'counter', unit: '', help: `Help\n${index}` },
        buffers.map((buffer) => Buffer.from(buffer)),
      ),
    );
    const answer: ReadyAnswer = {
      kind: 'ready',
      snapshot: snapshotOf(texts, {
        hold: () => {
          held.count++;
          return () => held.count--;
        },
      }),
      internal: own(0.5),
      status,
    };
    return { answer, held };
  };
  const head = (index: number) => `# HELP f${index} Help\\n${index}\n# TYPE f${index} counter\n`;
  const OWN =
    '# HELP own Own.\n# TYPE own gauge\nown 0.5\n' +
    '# HELP shm_exporter_target_info Labels of the target; always 1.\n' +
    '# TYPE shm_exporter_target_info gauge\n' +
    'shm_exporter_target_info{app="ads",server_key="82",root="H.1.ads",partition="0"} 1\n';

  it('has the families in order, each after its header, and then the internal metrics', () => {
    const { answer } = exposing(['f0 1\n', 'f0{a="b"} 2\n'], ['f1 3\n']);
    const page = TEXT.page(answer);
    expect(textOf(page)).to.equal(`${head(0)}f0 1\nf0{a="b"} 2\n${head(1)}f1 3\n${OWN}`);
    expect(page.bytes).to.equal(textOf(page).length);
    expect(page.contentType).to.equal('text/plain; version=0.0.4; charset=utf-8');
  });

  it('without families has only the internal metrics', () => {
    expect(textOf(TEXT.page(exposing().answer))).to.equal(OWN);
  });

  it('has the same text without and with gzip if the snapshot has only a deflate stream', () => {
    const text = 'x 1\nx{a="b"} 2\n';
    const blocks = [deflateBlockOf(Buffer.from(text))];
    const { answer } = exposing();
    const families = ['x', 'y'].map(
      (name) =>
        new RenderedFamily({ name, type: 'counter', unit: '', help: 'X.' }, undefined, blocks),
    );
    const { snapshot } = answer;
    for (const [format, header, end] of [
      [TEXT, '# HELP x X.\n# TYPE x counter\n', ''],
      [OPEN_METRICS, '# TYPE x unknown\n# HELP x X.\n', '# EOF\n'],
    ] as const) {
      const page = format.page({
        ...answer,
        selected: families,
        snapshot: { ...snapshot, isDeflated: true, encodings: { text: false, deflated: true } },
      });
      const lasting = `${header}${text}${header.replaceAll(' x ', ' y ')}${text}`;
      const gzip = page.gzip?.();
      if (gzip === undefined || gzip instanceof Promise) throw new Error('It is not ready');
      expect(gunzipSync(Buffer.concat(gzip.buffers)).toString()).to.equal(textOf(page));
      expect(page.bytes).to.equal(textOf(page).length);
      expect(textOf(page))
        .to.match(new RegExp(`${end}$`))
        .and.to.contain(lasting);
    }
  });

  it('holds its snapshot until the page is released', () => {
    const { answer, held } = exposing(['f0 1\n']);
    const pages = [TEXT.page(answer), TEXT.page(answer)];
    expect(held.count).to.equal(2);
    for (const page of pages) page.release();
    expect(held.count).to.equal(0);
  });

  it('merges small buffers and sends large buffers without a copy', () => {
    const large = 'x'.repeat(16_384);
    const { answer } = exposing(['a\n', 'b\n', large, 'c\n'], ['d\n']);
    const { buffers } = TEXT.page(answer);
    expect(buffers.map(({ length }) => length)).to.deep.equal([
      `${head(0)}a\nb\n`.length,
      large.length,
      `c\n${head(1)}d\n`.length,
      OWN.length,
    ]);
    expect(buffers[1]).to.equal(answer.snapshot.families[0]?.buffers[2]);
  });

  /** Families in one memory, each after its header. `gaps` are the numbers of bytes between them. */
  const familiesInMemory = (texts: readonly (readonly string[])[], gaps: readonly number[]) => {
    const memory = new SharedArrayBuffer(4 * 65_536);
    let at = 16;
    return texts.map((buffers, index): FamilyText => {
      const type = index % 2 === 0 ? 'counter' : 'gauge';
      const name = `f${index}${index % 2 === 0 ? '_total' : ''}`;
      const metadata: FamilyMetadata = { name, type, unit: '', help: 'One\n€.' };
      const header = headerOf(metadata);
      const ranges: number[] = [];
      buffers.forEach((buffer, i) => {
        const text = i === 0 ? header.text + buffer : buffer;
        ranges.push(at, at + Buffer.from(memory, at).write(text));
        at = (ranges.at(-1) ?? 0) + (i === buffers.length - 1 ? (gaps[index] ?? 0) : 16);
      });
      return new RenderedFamily(metadata, { header, memory, ranges });
    });
  };
  const large = 'y'.repeat(16_384);

  it('does not copy a family if the text of the family includes the header of the format', () => {
    const { answer } = exposing([]);
    const families = familiesInMemory([[large, large], [large]], [16]);
    const page = TEXT.page({ ...answer, selected: families, internal: [] });
    expect(page.buffers.map(({ byteOffset }) => byteOffset)).to.deep.equal(
      families.flatMap(({ textRanges }) => textRanges?.ranges.filter((_, i) => i % 2 === 0)),
    );
    expect(page.bytes).to.equal(Buffer.byteLength(textOf(page)));
    const other = OPEN_METRICS.page({ ...answer, selected: families, internal: [] });
    const texts = [large + large, large];
    expect(textOf(other)).to.equal(
      families
        .map(({ metadata }, index) => `${openMetricsHeader(metadata)}${texts[index] ?? ''}`)
        .join('') + '# EOF\n',
    );
    expect(other.buffers[1]).to.deep.equal(Buffer.from(large));
    expect(families.map(({ bytes }) => bytes)).to.deep.equal([2 * large.length, large.length]);
  });

  it('uses the prepared buffers of its snapshot, and does not read the families', () => {
    const { answer } = exposing(['f0 1\n'], ['f1 3\n']);
    const page = ['one\n', 'two\n'].map((text) => Buffer.from(text));
    const snapshot = {
      ...answer.snapshot,
      page,
      get families(): never {
        throw new Error('Nobody asks for them');
      },
    };
    const whole = TEXT.page({ ...answer, snapshot });
    expect(whole.buffers.slice(0, 2)).to.have.ordered.members(page);
    expect(textOf(whole)).to.equal(`one\ntwo\n${OWN}`);
    expect(whole.bytes).to.equal(textOf(whole).length);
  });

  it('ignores the prepared buffers of its snapshot for a scope or for OpenMetrics', () => {
    const { answer } = exposing(['f0 1\n'], ['f1 3\n']);
    const snapshot = { ...answer.snapshot, page: [Buffer.from('all\n')] };
    const selected = snapshot.families.slice(1);
    const some = TEXT.page({ ...answer, snapshot, selected, internal: [] });
    expect(textOf(some)).to.equal(`${head(1)}f1 3\n`);
    expect(textOf(OPEN_METRICS.page({ ...answer, snapshot }))).to.equal(
      textOf(OPEN_METRICS.page(answer)),
    );
  });

  it('has one buffer for families that are adjacent in memory', () => {
    const { answer } = exposing([]);
    const short = 'y'.repeat(6000);
    const families = familiesInMemory([[short], [short], [short], [short], [short]], [0, 0, 0, 16]);
    const page = TEXT.page({ ...answer, selected: families, internal: [] });
    const [start, , , end] = families.flatMap(
      ({ textRanges }) => textRanges?.ranges.slice(-1) ?? [],
    );
    expect(page.buffers).to.have.lengthOf(2);
    expect(page.buffers[0]?.byteOffset).to.equal(16);
    expect(page.buffers[0]?.length).to.equal((end ?? 0) - 16);
    expect(start).to.be.lessThan(end ?? 0);
    expect(textOf(page)).to.equal(
      families.map(({ textRanges }) => `${textRanges?.header.text ?? ''}${short}`).join(''),
    );
    const scoped = [...families.slice(0, 1), ...families.slice(2)];
    expect(textOf(TEXT.page({ ...answer, selected: scoped, internal: [] }))).to.equal(
      scoped.map(({ textRanges }) => `${textRanges?.header.text ?? ''}${short}`).join(''),
    );
  });

  it('has only the families of its scope, and reuses buffers that were built before', () => {
    const { answer, held } = exposing(['f0 1\n'], ['f1 3\n']);
    const scoped = { ...answer, selected: answer.snapshot.families.slice(1), internal: [] };
    const [page, again] = [TEXT.page(scoped), TEXT.page(scoped)];
    expect(textOf(page)).to.equal(`${head(1)}f1 3\n`);
    expect(page.bytes).to.equal(textOf(page).length);
    expect(again.buffers).to.deep.equal(page.buffers);
    expect(again.buffers[0]).to.equal(page.buffers[0]);
    expect(held.count).to.equal(2);
    expect(textOf(TEXT.page({ ...scoped, selected: [], internal: own(2) }))).to.match(
      /^# HELP own .*\n.*\nown 2\n/,
    );
  });

  it('equals a newly built page after random changes of the families', () => {
    const all = Array.from({ length: 50 }, (_, index) => {
      const type = index % 3 === 0 ? ('counter' as const) : ('gauge' as const);
      const name = index % 4 === 0 ? `f${index}_total` : `f${index}`;
      return { name, type, unit: '', help: `Help ${index}` };
    });
    const texts = new Map<string, FamilyText>();
    const textOfFamily = (index: number, version: number): FamilyText => {
      const metadata = all[index] ?? { name: '', type: 'gauge', unit: '', help: '' };
      const key = `${index} ${version}`;
      const lines = Buffer.from(`${metadata.name} ${'7'.repeat(version)}\n`);
      const text = texts.get(key) ?? familyText(metadata, [lines]);
      texts.set(key, text);
      return text;
    };
    const list = fc.uniqueArray(fc.tuple(fc.nat({ max: 49 }), fc.integer({ min: 1, max: 3 })), {
      selector: ([index]) => index,
    });
    const { answer } = exposing();
    const { snapshot } = answer;
    fc.assert(
      fc.property(fc.array(list, { maxLength: 20 }), (lists) => {
        for (const each of lists) {
          const chosen = each.toSorted(([a], [b]) => a - b);
          const families = chosen.map(([index, version]) => textOfFamily(index, version));
          for (const format of [TEXT, OPEN_METRICS]) {
            const page = format.page({ ...answer, selected: families, snapshot });
            const copies = families.map(({ metadata, buffers }) =>
              familyText({ ...metadata }, buffers),
            );
            const naive = format.page({ ...answer, selected: copies, snapshot });
            expect(textOf(page)).to.equal(textOf(naive));
            expect(page.bytes).to.equal(textOf(page).length);
          }
        }
      }),
    );
  });

  it('builds and compresses the text of a snapshot once, and the internal metrics for each page', async () => {
    const { answer } = exposing(['f0 1\n']);
    const first = TEXT.page(answer);
    const second = TEXT.page({ ...answer, internal: own(2) });
    expect(second.buffers[0]).to.equal(first.buffers[0]);
    expect(textOf(second)).to.contain('\nown 2\n');
    const [gzip, again] = [await first.gzip?.(), await second.gzip?.()];
    expect(gzip?.buffers[1]).to.equal(again?.buffers[1]);
  });
});
