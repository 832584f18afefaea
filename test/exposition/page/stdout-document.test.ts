// The documents of stdout mode, as text and as JSON lines.
import { expect } from 'chai';
import fc from 'fast-check';
import { jsonDocument, textDocument } from '#app/exposition/page/stdout-document.js';
import { labelsText, seriesText } from '#app/exposition/text/text-syntax.js';
import type { Document, Piece } from '#app/model.js';
import { FakeTarget } from '../../support/fake-target.js';
import { piecesOf } from '../../support/snapshot-of.js';

const TIME = new Date('2026-01-02T03:04:05.006Z');
const textOf = ({ buffers }: Document): string => Buffer.concat([...buffers]).toString();
const waiting = (reason = 'object x') =>
  new FakeTarget().wait({
    objects: { synced: 1, total: 2 },
    variables: { synced: 3, total: 4 },
    reason,
  });
const OF_SINK = [
  { name: 'shm_own_total', type: 'counter', help: 'Own \\ metric.', value: 7 },
] as const;
const NOT_READY = 'scrape not ready: objects 1/2 synced, variables 3/4 synced, waiting on object x';

describe('a text document on stdout', () => {
  const HEAD = '# snapshot app=ads server_key=82 root=H.1.ads time=2026-01-02T03:04:05.006Z';

  it('has a comment line, the text, and an end mark', () => {
    const target = new FakeTarget();
    const page = textDocument(target.demandAnswer(), TIME);
    expect(textOf(page)).to.equal(
      `${HEAD}\n# HELP demo_value A value.\n# TYPE demo_value gauge\ndemo_value 1\n` +
        '# HELP shm_exporter_target_info Labels of the target; always 1.\n' +
        '# TYPE shm_exporter_target_info gauge\n' +
        'shm_exporter_target_info{app="ads",server_key="82",root="H.1.ads",partition="0"} 1\n# EOF\n',
    );
    expect(target.held).to.equal(1);
    page.release();
    expect(target.held).to.equal(0);
  });

  it('ends with the metrics of the sink', () => {
    const page = textDocument(new FakeTarget().demandAnswer(), TIME, OF_SINK);
    const own =
      '# HELP shm_own_total Own \\\\ metric.\n# TYPE shm_own_total counter\nshm_own_total 7\n';
    expect(textOf(page).endsWith(`partition="0"} 1\n${own}# EOF\n`)).to.equal(true);
  });

  it('is one comment line with the reason while the target is not ready', () => {
    const page = textDocument(waiting().demandAnswer(), TIME);
    expect(textOf(page)).to.equal(`${HEAD} ${NOT_READY}\n`);
  });

  it('stays one comment line if names of the publisher have line breaks', () => {
    const target = new FakeTarget('ads', ['82'], 'H.1\nevil_series 1\r\n.ads');
    expect(textOf(textDocument(target.demandAnswer(), TIME)).split('\n')).to.not.include(
      'evil_series 1\r',
    );
    const text = textOf(textDocument(waiting('object a\nevil_series 1').demandAnswer(), TIME));
    expect(text.trimEnd().split('\n')).to.have.length(1);
  });
});

describe('a JSON document on stdout', () => {
  const common = {
    time: '2026-01-02T03:04:05.006Z',
    app: 'ads',
    server_key: '82',
    root: 'H.1.ads',
  };
  /** The JSON objects of a document with these series lines. */
  const parsed = (text: string): unknown[] => {
    const target = new FakeTarget();
    target.text = text;
    return textOf(jsonDocument(target.demandAnswer(), TIME))
      .split('\n')
      .filter((line) => line !== '')
      .map((line): unknown => JSON.parse(line));
  };

  it('has one object for each series and each internal metric', () => {
    const target = new FakeTarget();
    target.text = 'demo_value 1\ndemo_value{a="b",c="d e"} 2.5\n';
    target.metrics = [{ name: 'shm_x_total', type: 'counter', help: '', value: 7 }];
    const page = jsonDocument(target.demandAnswer(), TIME);
    const lines = textOf(page).split('\n');
    expect(lines.pop()).to.equal('');
    expect(lines.map((line): unknown => JSON.parse(line))).to.deep.equal([
      { ...common, name: 'demo_value', type: 'gauge', labels: {}, value: 1 },
      { ...common, name: 'demo_value', type: 'gauge', labels: { a: 'b', c: 'd e' }, value: 2.5 },
      { ...common, name: 'shm_x_total', type: 'counter', labels: {}, value: 7 },
      {
        ...common,
        name: 'shm_exporter_target_info',
        type: 'info',
        labels: { app: 'ads', server_key: '82', root: 'H.1.ads', partition: '0' },
        value: 1,
      },
    ]);
  });

  it('ends with the metrics of the sink', () => {
    const lines = textOf(jsonDocument(new FakeTarget().demandAnswer(), TIME, OF_SINK)).split('\n');
    expect(JSON.parse(lines.at(-2) ?? '')).to.deep.equal({
      ...common,
      name: 'shm_own_total',
      type: 'counter',
      labels: {},
      value: 7,
    });
  });

  it('is written lazily in buffers of 128 KB, and holds its snapshot until the end', () => {
    const target = new FakeTarget();
    const answer = target.demandAnswer();
    if (answer.kind === 'waiting') throw new Error('It is ready');
    let read = 0;
    const counted = Array.from({ length: 5000 }, (): Piece => {
      const [piece] = piecesOf(target.metadata, ['demo_value{a="b"} 1\n']);
      if (piece === undefined) throw new Error('no piece');
      const { data, ...others } = piece;
      return {
        ...others,
        get data() {
          read++;
          return data;
        },
      };
    });
    const snapshot = { ...answer.snapshot, lines: () => counted };
    const { buffers, release } = jsonDocument({ ...answer, snapshot }, TIME);
    expect([read, target.held]).to.deep.equal([0, 1]);
    const lengths: number[] = [];
    for (const buffer of buffers) {
      lengths.push(buffer.length);
      if (read < 5000) expect(buffer.length).to.be.within(131_072, 132_000);
      expect(read).to.be.at.most(lengths.length * 1000);
    }
    expect(lengths.length).to.be.at.least(5);
    release();
    expect([read, target.held]).to.deep.equal([5000, 0]);
  });

  it('is one object with the reason while the target is not ready', () => {
    const text = textOf(jsonDocument(waiting().demandAnswer(), TIME));
    expect(JSON.parse(text)).to.deep.equal({ ...common, ready: false, reason: NOT_READY });
    expect(text.split('\n')).to.have.length(2);
  });

  it('keeps 64-bit integers exact', () => {
    const target = new FakeTarget();
    target.text = 'demo_value 18446744073709551615\ndemo_value{a="b"} -9223372036854775808\n';
    const text = textOf(jsonDocument(target.demandAnswer(), TIME));
    expect(text).to.contain('"value":18446744073709551615}\n');
    expect(text).to.contain('"value":-9223372036854775808}\n');
  });

  const values = [
    ['NaN', 'NaN'],
    ['+Inf', '+Inf'],
    ['-Inf', '-Inf'],
    ['1e+21', 1e21],
    ['-2.5e-7', -2.5e-7],
    ['0', 0],
  ] as const;
  for (const [text, value] of values)
    it(`writes the value ${text} as ${JSON.stringify(value)}`, () => {
      expect(parsed(`demo_value ${text}\n`)).to.have.nested.property('[0].value', value);
    });

  it('writes NaN and infinite values of internal metrics as text', () => {
    const target = new FakeTarget();
    target.text = '';
    target.metrics = [NaN, Infinity, -Infinity].map((value) => ({
      name: 'shm_x',
      type: 'gauge',
      help: '',
      value,
    }));
    const lines = textOf(jsonDocument(target.demandAnswer(), TIME)).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { value: unknown }).value)).to.deep.equal([
      'NaN',
      '+Inf',
      '-Inf',
      1,
    ]);
  });

  it('escapes every label so that a JSON parser returns the original', () => {
    const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,8}$/);
    const nasty = fc.constantFrom(
      '"',
      '\\',
      '\n',
      ',',
      '{',
      '}',
      ' ',
      '=',
      'a',
      'n',
      '\r',
      '\u2028',
    );
    const value = fc.oneof(
      fc.array(nasty, { minLength: 1 }).map((parts) => parts.join('')),
      fc.string({ unit: 'grapheme', minLength: 1 }),
    );
    fc.assert(
      fc.property(fc.dictionary(name, value), (labels) => {
        const [line] = parsed(`${seriesText('demo_value', labelsText(labels))} 1\n`);
        expect(line).to.deep.equal({
          ...common,
          name: 'demo_value',
          type: 'gauge',
          labels: { ...labels },
          value: 1,
        });
      }),
      { numRuns: 60 },
    );
  });
});
