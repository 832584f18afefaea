// Tests the pages of a snapshot: their buffers, their sizes, and how long they hold the snapshot.
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { deflateBlockOf } from '#app/exposition/compress/gzip.js';
import { OPEN_METRICS } from '#app/exposition/page/open-metrics.js';
import { compileScope, selected } from '#app/exposition/page/scope.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import type { Page, Piece, ReadyAnswer } from '#app/model.js';
import { internalFamilies } from '#app/targets/internal-metrics.js';
import { FakeTarget } from '../../support/fake-target.js';
import { piecesOf, snapshotOf } from '../../support/snapshot-of.js';

const textOf = (page: Page): string => Buffer.concat(page.buffers).toString();

describe('a page of text 0.0.4', () => {
  const status = new FakeTarget().status();
  const own = (value: number) =>
    internalFamilies([{ name: 'own', type: 'gauge', help: 'Own.', value }], status);
  /** Returns an exposition of families with these buffers, and a count of the holds on its snapshot. */
  const exposing = (...families: readonly (readonly string[])[]) => {
    const held = { count: 0 };
    const texts = families.flatMap((buffers, index) =>
      piecesOf({ name: `f${index}`, type: 'counter', unit: '', help: `Help\n${index}` }, buffers),
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
      labels: {},
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

  it('has the same text without and with gzip if the snapshot has only deflate blocks', () => {
    const text = 'x 1\nx{a="b"} 2\n';
    const { answer } = exposing();
    const blocks = ['x', 'y'].map((name): Piece => ({
      family: { name, type: 'counter', unit: '', help: 'X.' },
      lines: 2,
      ...deflateBlockOf(Buffer.from(text)),
    }));
    const snapshot = snapshotOf(blocks, {
      lines: (form) => (form === 'deflated' ? blocks : undefined),
    });
    for (const [format, header, end] of [
      [TEXT, '# HELP x X.\n# TYPE x counter\n', ''],
      [OPEN_METRICS, '# TYPE x unknown\n# HELP x X.\n', '# EOF\n'],
    ] as const) {
      const page = format.page({ ...answer, snapshot });
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
    expect(buffers[1]).to.equal(answer.snapshot.lines('text')?.[2]?.data);
  });

  it('has only the families of its scope, and reuses buffers that were built before', () => {
    const { answer, held } = exposing(['f0 1\n'], ['f1 3\n']);
    const scope = compileScope({ name: 'one', metrics: ['f1'] });
    const { selection } = selected(answer.snapshot, scope);
    const scoped = { ...answer, snapshot: selection, internal: [] };
    const [page, again] = [TEXT.page(scoped), TEXT.page(scoped)];
    expect(textOf(page)).to.equal(`${head(1)}f1 3\n`);
    expect(page.bytes).to.equal(textOf(page).length);
    expect(again.buffers).to.deep.equal(page.buffers);
    expect(again.buffers[0]).to.equal(page.buffers[0]);
    expect(held.count).to.equal(2);
    expect(textOf(TEXT.page({ ...exposing().answer, internal: own(2) }))).to.match(
      /^# HELP own .*\n.*\nown 2\n/,
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
