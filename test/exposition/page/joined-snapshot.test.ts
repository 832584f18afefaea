// Joins the snapshots of several targets: one header for each family, above the lines of all targets.
import { expect } from 'chai';
import fc from 'fast-check';
import { gunzipSync } from 'node:zlib';
import { deflateBlockOf } from '#app/exposition/compress/gzip.js';
import { joinSnapshots, joining } from '#app/exposition/page/joined-snapshot.js';
import { mergedDocument } from '#app/exposition/page/merged-document.js';
import { OPEN_METRICS } from '#app/exposition/page/open-metrics.js';
import { TEXT, sizeOf } from '#app/exposition/page/text-page.js';
import type { FamilyMetadata, LabelledAnswer, MetricType, Snapshot } from '#app/model.js';
import { isLabelled } from '#app/sinks/sink.js';
import { FakeTarget } from '../../support/fake-target.js';
import { linesOf, piecesOf, snapshotOf } from '../../support/snapshot-of.js';

/** The answer of a target of this application, whose only family has these lines. */
function answerOf(
  app: string,
  text: string,
  type: MetricType = 'gauge',
  name = 'demo_value',
): LabelledAnswer {
  const target = new FakeTarget(app);
  target.text = text;
  target.metadata = { ...target.metadata, name, type };
  target.labels = { app };
  const answer = target.demandAnswer();
  if (!isLabelled(answer)) throw new Error('The target is not ready');
  return answer;
}

const merged = (...all: readonly LabelledAnswer[]): string =>
  Buffer.concat([...mergedDocument(joinSnapshots(all), '').buffers]).toString();

const HEAD = '# HELP demo_value A value.\n# TYPE demo_value gauge\n';

describe('joined snapshots', () => {
  it('have each family once, with the lines of all targets in their order', () =>
    expect(
      merged(
        answerOf('a', 'demo_value{app="a",x="1"} 1\ndemo_value{app="a",x="2"} 2\n'),
        answerOf('b', 'other{app="b"} 3\n', 'gauge', 'other'),
        answerOf('c', 'demo_value{app="c"} 4\n'),
      ),
    ).to.equal(
      `${HEAD}demo_value{app="a",x="1"} 1\ndemo_value{app="a",x="2"} 2\ndemo_value{app="c"} 4\n` +
        '# HELP other A value.\n# TYPE other gauge\nother{app="b"} 3\n',
    ));

  it('omit and name a metric if an earlier target has the metric with a different type', () => {
    const all = [answerOf('a', 'demo_value 1\n'), answerOf('b', 'demo_value 2\n', 'counter')];
    const sentence = 'demo_value{app="b"} is left out: the same metric already has the type gauge';
    expect(joinSnapshots(all).leftOut).to.deep.equal([sentence]);
    expect(merged(...all)).to.equal(`# ${sentence}\n${HEAD}demo_value 1\n`);
    const unknown = [answerOf('a', 'x 1\n', 'unknown'), answerOf('b', 'x 2\n')];
    expect(merged(...unknown)).to.include(
      'left out: the same metric already has the type unknown\n',
    );
  });

  it('omit and name a metric if its name belongs to a series of an earlier target', () => {
    const histogram = answerOf('a', 'demo_value_count 1\n', 'histogram');
    const gauge = answerOf('b', 'demo_value_count 2\n', 'gauge', 'demo_value_count');
    expect(joinSnapshots([histogram, gauge]).leftOut).to.deep.equal([
      'demo_value_count{app="b"} is left out: the name demo_value_count belongs to the histogram metric demo_value',
    ]);
    expect(joinSnapshots([gauge, histogram]).leftOut).to.deep.equal([
      'demo_value{app="a"} is left out: the name demo_value_count belongs to the gauge metric demo_value_count',
    ]);
  });

  it('omit and name a target with the same labels as an earlier target', () => {
    const all = [answerOf('a', 'demo_value 1\n'), answerOf('a', 'demo_value 2\n')];
    expect(merged(...all)).to.equal(
      '# all metrics of {app="a"} are left out: an earlier target has the same labels\n' +
        `${HEAD}demo_value 1\n`,
    );
  });

  it('omit and name a metric whose name the document itself uses', () => {
    const all = [answerOf('a', 'demo_value 1\n')];
    const reserved = all[0]?.snapshot.metadata ?? [];
    expect(joinSnapshots(all, reserved).leftOut).to.deep.equal([
      'demo_value{app="a"} is left out: the document itself adds a metric with this name',
    ]);
  });

  it('of no targets are empty', () => expect(merged()).to.equal(''));

  it('adapt the names of all targets together to OpenMetrics', () => {
    const { snapshot } = joinSnapshots([
      answerOf('a', 'x_total 1\n', 'counter', 'x_total'),
      answerOf('b', 'x 2\n', 'gauge', 'x'),
    ]);
    const { buffers } = OPEN_METRICS.page({ snapshot, internal: [] });
    expect(Buffer.concat(buffers).toString()).to.match(/^# TYPE x_total unknown\n/);
  });

  it('violate OpenMetrics if one of them does', () => {
    const bad = answerOf('a', 'x 1\n');
    const snapshot = { ...bad.snapshot, violatesOpenMetrics: true };
    const good = answerOf('b', 'x 1\n');
    expect(joinSnapshots([good, { ...bad, snapshot }]).snapshot.violatesOpenMetrics).to.equal(true);
    expect(joinSnapshots([good]).snapshot.violatesOpenMetrics).to.equal(false);
  });

  describe('of many families', () => {
    const FAMILIES = Array.from({ length: 2000 }, (_, index): FamilyMetadata => ({
      ...{ name: `f${index}`, type: 'gauge', unit: '', help: 'F.' },
    }));
    const metadata = ['a', 'b', 'c'].map(() => [...FAMILIES]);
    const answers = (value: number) =>
      metadata.map((list, app) => {
        const pieces = list.flatMap((each) => piecesOf(each, [`${each.name} ${value}\n`]));
        return { snapshot: { ...snapshotOf(pieces), metadata: list }, labels: { app: `${app}` } };
      });
    const NO_FAMILY: readonly FamilyMetadata[] = [];
    const stepsOf = (all: ReturnType<typeof answers>, form?: 'text' | 'deflated') => {
      const steps = joining(all, NO_FAMILY, form);
      let count = 0;
      while (steps.next().done !== true) count++;
      return count;
    };

    it('are joined in small steps', () => {
      const all = answers(1);
      expect(stepsOf(all), 'compares families').to.equal(23);
      expect(stepsOf(all, 'text'), 'collects pieces').to.equal(26);
      expect(stepsOf(all, 'text'), 'without a change').to.equal(0);
    });

    it('are joined in small steps for a compressed page whose lines are text', () => {
      const all = answers(5);
      stepsOf(all);
      expect(stepsOf(all, 'deflated'), 'collects pieces').to.equal(26);
      expect(stepsOf(all, 'text'), 'once').to.equal(0);
    });

    it('share the list of families while only values change', () => {
      const [first, second] = [answers(2), answers(3)].map((all) => joinSnapshots(all).snapshot);
      expect(second?.metadata).to.equal(first?.metadata);
      expect(linesOf(second ?? snapshotOf([]))).to.match(/^(f\d+ 3\n)+$/);
      const fewer = answers(4).slice(0, 2);
      expect(stepsOf(fewer), 'compares the families again').to.be.above(0);
    });
  });

  it('have all lines of all targets, whatever the order of their families is', () => {
    const text = fc.array(fc.nat(700), { minLength: 1, maxLength: 4 });
    const part = fc.record({
      order: fc.shuffledSubarray([0, 1, 2, 3, 4]),
      texts: fc.array(text, { minLength: 5, maxLength: 5 }),
    });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const expected = new Map<string, string>();
        const snapshots = parts.map(({ order, texts }, app) =>
          snapshotOf(
            order.flatMap((number) => {
              const name = `f${number}`;
              const lines = (texts[number] ?? []).map(
                (length) => `${name}{app="${app}",x="${'x'.repeat(length)}"} 1\n`,
              );
              expected.set(name, (expected.get(name) ?? '') + lines.join(''));
              return piecesOf({ name, type: 'gauge', unit: '', help: 'F.' }, lines);
            }),
          ),
        );
        const { snapshot } = joinSnapshots(
          snapshots.map((each, app) => ({ snapshot: each, labels: { app: String(app) } })),
        );
        expect(linesOf(snapshot)).to.equal([...expected.values()].join(''));
        expect(sizeOf(snapshot).bytes).to.equal(linesOf(snapshot).length);
      }),
    );
  });

  it('have text in place of lines in another form of text, unless all targets lack that form', () => {
    const family = { name: 'demo', type: 'gauge', unit: '', help: 'D.' } as const;
    const pieces = piecesOf(family, ['demo{app="a"} 1\n']);
    const withCreated: Snapshot = {
      ...snapshotOf(pieces),
      lines: (form) => (form === 'text' || form === 'created' ? pieces : undefined),
    };
    const withText = snapshotOf(piecesOf(family, ['demo{app="b"} 2\n']));
    const linesIn = (form: 'created' | 'protobuf', ...snapshots: Snapshot[]) => {
      const [first, second] = [answerOf('a', ''), answerOf('b', '')];
      const all = snapshots.map((snapshot, at) => ({ ...(at === 0 ? first : second), snapshot }));
      return joinSnapshots(all)
        .snapshot.lines(form)
        ?.map(({ data }) => Buffer.from(data).toString())
        .join('');
    };
    expect(linesIn('created', withCreated, withText)).to.equal(
      'demo{app="a"} 1\ndemo{app="b"} 2\n',
    );
    expect(linesIn('created', withText)).to.equal(undefined);
    expect(linesIn('protobuf', { ...withText, lines: () => pieces }, withText)).to.equal(undefined);
  });

  it('hold all snapshots until they are released', () => {
    const held = { count: 0 };
    const snapshots = [1, 2, 3].map(() =>
      snapshotOf([], {
        hold: () => {
          held.count++;
          return () => held.count--;
        },
      }),
    );
    const { snapshot } = joinSnapshots(
      snapshots.map((each, index) => ({ snapshot: each, labels: { app: String(index) } })),
    );
    const release = snapshot.hold();
    expect(held.count).to.equal(3);
    release();
    expect(held.count).to.equal(0);
  });

  it('give the same page with and without gzip, for any mixture of text and deflate blocks', async () => {
    /** A snapshot of some of the families `f0` to `f4`, as text or as deflate blocks. */
    const part = fc.record({
      isDeflated: fc.boolean(),
      families: fc.subarray([0, 1, 2, 3, 4]),
      lines: fc.array(fc.nat(9), { minLength: 1, maxLength: 4 }),
    });
    const snapshotIn = (
      app: number,
      { isDeflated, families, lines }: typeof part extends fc.Arbitrary<infer T> ? T : never,
    ): Snapshot => {
      const pieces = families.flatMap((number) => {
        const name = `f${number}`;
        const text = lines.map((count) => `${name}{app="${app}"} 1\n`.repeat(count + 1));
        return piecesOf({ name, type: 'gauge', unit: '', help: 'F.' }, text);
      });
      if (!isDeflated) return snapshotOf(pieces);
      const blocks = pieces.map((piece) => ({
        ...piece,
        ...deflateBlockOf(piece.data),
      }));
      const metadata = [...new Set(blocks.map(({ family }) => family))];
      return {
        metadata,
        violatesOpenMetrics: false,
        lines: (form) => (form === 'deflated' ? blocks : undefined),
        hold: () => () => undefined,
      };
    };
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
        const { snapshot } = joinSnapshots(
          parts.map((each, app) => ({
            snapshot: snapshotIn(app, each),
            labels: { app: String(app) },
          })),
        );
        const page = TEXT.page({ snapshot, internal: [] });
        const gzip = await TEXT.page({ snapshot, internal: [] }).gzip?.();
        const text = Buffer.concat(page.buffers);
        expect(page.bytes).to.equal(text.length);
        expect(gunzipSync(Buffer.concat(gzip?.buffers ?? [])).equals(text)).to.equal(true);
      }),
      { numRuns: 200 },
    );
  });
});
