// The metrics of the HTTP responder about its responses.
import { expect } from 'chai';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { FakeTarget } from '../../support/fake-target.js';
import { freshServing } from '../../support/serving-http.js';

describe('the metrics of the HTTP responder', () => {
  const serve = freshServing();

  it('count responses by status, and the bytes of their bodies', async () => {
    const selfMetrics = new SelfMetrics();
    const http = await serve([new FakeTarget()], { selfMetrics });
    let bytes = 0;
    for (const path of ['/metrics', '/nowhere', '/metrics/none', '/metrics'])
      bytes += (await http.ask(path)).text.length;
    const lines = (await selfMetrics.text([])).split('\n');
    expect(
      lines.filter((line) => /^shm_exporter_http_(responses|sent|cut)/.test(line)),
    ).to.deep.equal([
      'shm_exporter_http_responses_total{code="200"} 2',
      'shm_exporter_http_responses_total{code="404"} 2',
      `shm_exporter_http_sent_bytes_total ${bytes}`,
      'shm_exporter_http_cut_responses_total 0',
    ]);
  });
});
