// The metric of the highlighted variable, one of the internal metrics.
import { expect } from 'chai';
import { jsonDocument } from '#app/exposition/page/stdout-document.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import { highlightedMetric, internalFamilies } from '#app/targets/internal-metrics.js';
import { FakeTarget } from '../support/fake-target.js';

const NAME = 'shm_exporter_target_highlighted_value';

describe('the metric of the highlighted variable', () => {
  const lines = [
    [{ path: 'a.v', value: 18_446_744_073_709_551_615n }, '{path="a.v"} 18446744073709551615'],
    [{ path: 'a.v', value: -9_007_199_254_740_993n }, '{path="a.v"} -9007199254740993'],
    [{ path: 'a.v', value: 0.1 }, '{path="a.v"} 0.1'],
    [{ path: 'a.v', value: Infinity }, '{path="a.v"} +Inf'],
    [{ path: '# "a"\\', value: 1n }, '{path="# \\"a\\"\\\\"} 1'],
    [{ path: 'a.v', value: 1, text: 'b\n} 2' }, '{path="a.v",value="b\\n} 2"} 1'],
    [{ path: 'a.v', value: 1, text: '' }, '{path="a.v"} 1'],
  ] as const;
  for (const [value, line] of lines)
    it(`has the line ${line}`, () => {
      const [family] = internalFamilies([highlightedMetric(value)], new FakeTarget().status());
      expect(family?.text).to.equal(`${NAME}${line}\n`);
    });

  it('has its header lines on the page', () => {
    const target = new FakeTarget();
    target.metrics = [highlightedMetric({ path: 'v', value: 3n })];
    const answer = target.demandAnswer();
    if (answer.kind === 'waiting') expect.fail('not ready');
    expect(Buffer.concat(TEXT.page(answer).buffers).toString()).to.match(
      new RegExp(`\n# HELP ${NAME} Value of .*\n# TYPE ${NAME} gauge\n${NAME}{path="v"} 3\n# HELP`),
    );
  });

  it('is one exact JSON object with its labels', () => {
    const target = new FakeTarget();
    target.text = '';
    target.metrics = [
      highlightedMetric({ path: 'v', value: 9_007_199_254_740_993n }),
      highlightedMetric({ path: 'v', value: 1, text: 'b "c"' }),
    ];
    const { buffers } = jsonDocument(target.demandAnswer(), new Date(0));
    const [number = '', text = ''] = Buffer.concat([...buffers])
      .toString()
      .split('\n');
    const labelled = { name: NAME, type: 'gauge' };
    expect(JSON.parse(number)).to.deep.include({ ...labelled, labels: { path: 'v' } });
    expect(number).to.match(/"value":9007199254740993}$/);
    const labels = { path: 'v', value: 'b "c"' };
    expect(JSON.parse(text)).to.deep.include({ ...labelled, labels, value: 1 });
  });
});
