// Tests variables that state their series: what a publisher accepts, and what a page shows.
import { expect } from 'chai';
import { OPEN_METRICS } from '#app/exposition/page/open-metrics.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import type { PublisherOptions } from '#app/native/publisher/publisher-options.js';
import type { ValueType } from '#app/published.js';
import { freshServed } from '../support/served.js';
import type { Served } from '../support/served.js';

const HELP = 'Requests that were answered.';
const CAPACITY = { records: 64, stringBytes: 65_536, slots: 64, frameBytes: 4096 };

describe('A variable that states its series', () => {
  const { publishers, serve } = freshServed();
  const publishing = (options: Partial<PublisherOptions> = {}) => {
    const publisher = publishers.make('82', { capacity: CAPACITY, series: true, ...options });
    const root = publisher.addRoot('h.1.demo', 'Shop');
    return { publisher, root };
  };
  const shown = (served: Served, format = TEXT): string =>
    served.answer((answer) => {
      if (answer.kind === 'waiting') return answer.status.progress.reason;
      const page = format.page({ snapshot: answer.snapshot, internal: [] });
      const text = Buffer.concat([...page.buffers]).toString();
      page.release();
      return text;
    });
  const counting = ({ publisher, root }: ReturnType<typeof publishing>) => {
    const requests = (code: string, method: string) =>
      publisher.addVariable(root, 'http_requests_total', 'u64', {
        ...{ kind: 'counter', help: HELP, labels: { code, method } },
      });
    requests('200', 'get').set(7n);
    requests('500', 'p"\\').set(2n);
  };

  it('is shown with exactly its name, its labels and its help text', () => {
    const own = publishing();
    const { publisher, root } = own;
    counting(own);
    const seconds = { unit: 'seconds', help: 'Latency.', schema: [0.5], labels: { path: '/' } };
    publisher.addVariable(root, 'latency_seconds', 'histogram', seconds).set([1n, 2n], 3.5);
    publisher.addVariable(root, 'queue', 'i64', { kind: 'gauge', labels: {} }).set(-3n);
    publisher.addVariable(root, 'plain', 'i64', { kind: 'gauge', help: 'Plain.' }).set(4n);
    publisher.place();
    expect(shown(serve())).to.equal(
      '# HELP demo_shop_plain Plain.\n# TYPE demo_shop_plain gauge\n' +
        'demo_shop_plain{object="@root"} 4\n' +
        `# HELP http_requests_total ${HELP}\n# TYPE http_requests_total counter\n` +
        'http_requests_total{code="200",method="get"} 7\n' +
        'http_requests_total{code="500",method="p\\"\\\\"} 2\n' +
        '# HELP latency_seconds Latency.\n# TYPE latency_seconds histogram\n' +
        'latency_seconds_bucket{path="/",le="0.5"} 1\n' +
        'latency_seconds_bucket{path="/",le="+Inf"} 3\n' +
        'latency_seconds_sum{path="/"} 3.5\nlatency_seconds_count{path="/"} 3\n' +
        '# HELP queue \n# TYPE queue gauge\nqueue -3\n',
    );
  });

  it('is a counter of OpenMetrics', () => {
    const own = publishing();
    counting(own);
    own.publisher.place();
    expect(shown(serve(), OPEN_METRICS)).to.contain(
      `# TYPE http_requests counter\n# HELP http_requests ${HELP}\nhttp_requests_total{`,
    );
  });

  it('is left out and counted if another variable has the same series', () => {
    const own = publishing();
    counting(own);
    const twin = own.publisher.addObject(own.root, 'h.1.demo.twin', 'Shop');
    counting({ ...own, root: twin });
    own.publisher.place();
    const served = serve();
    expect(shown(served).match(/^http_requests_total/gm)).to.have.lengthOf(2);
    expect(served.internal('shm_exporter_target_clashing_series')).to.equal(2);
  });

  it('needs the option series of its publisher', () => {
    const { publisher, root } = publishing({ series: false });
    expect(() => publisher.addVariable(root, 'up', 'u64', { labels: {} })).to.throw(
      RangeError,
      'addVariable: labels: allowed only if the publisher has the option series',
    );
  });

  const refused: readonly [string, string, ValueType, Record<string, string>][] = [
    ['a name that is no name of a metric', 'a-b', 'u64', {}],
    ['a label that is no name of a label', 'a', 'u64', { 'b-c': '1' }],
    ['a name with a label in it', 'a{b="1"}', 'u64', {}],
    ['a label with another one in it', 'a', 'u64', { 'b="1",c': '2' }],
    ['the label of the buckets', 'a', 'histogram', { le: '1' }],
    ['a string', 'a', 'string', {}],
  ];
  for (const [title, name, type, labels] of refused)
    it(`refuses ${title}`, () => {
      const { publisher, root } = publishing();
      expect(() => publisher.addVariable(root, name, type, { labels })).to.throw(
        RangeError,
        /^addVariable: the series has /,
      );
    });

  it('refuses values of labels that are no text or too long', () => {
    const { publisher, root } = publishing();
    const adding = (value: unknown) => () =>
      publisher.addVariable(root, 'a', 'u64', { labels: { b: value as string } });
    expect(adding(1)).to.throw(RangeError, 'addVariable: labels: b: found 1, allowed: ');
    expect(adding('x'.repeat(4090))).to.throw(RangeError, 'addVariable: name and labels: found ');
    expect(adding('x'.repeat(4089))).not.to.throw();
  });
});
