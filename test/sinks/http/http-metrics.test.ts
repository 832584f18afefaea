// The metrics of the HTTP responder about its responses.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { STATUSES } from '#app/sinks/http/reply.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { eventually } from '../../support/eventually.js';
import { FakeTarget } from '../../support/fake-target.js';
import { PROJECT } from '../../support/processes.js';
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
      ...STATUSES.map((code) => {
        const count = code === 200 || code === 404 ? 2 : 0;
        return `shm_exporter_http_responses_total{code="${code}"} ${count}`;
      }),
      `shm_exporter_http_sent_bytes_total ${bytes}`,
      'shm_exporter_http_cut_responses_total 0',
    ]);
  });

  it('count each scrape in the histogram of durations, whatever its answer', async () => {
    const selfMetrics = new SelfMetrics();
    const http = await serve([new FakeTarget()], { selfMetrics });
    const count = async () =>
      /^shm_exporter_http_scrape_duration_seconds_count (\d+)$/m.exec(
        await selfMetrics.text([]),
      )?.[1];
    expect(await count()).to.equal('0');
    for (const path of ['/metrics', '/nowhere', '/metrics/none', '/', '/metrics'])
      await http.ask(path);
    expect(await count()).to.equal('3');
    expect(await selfMetrics.text([])).to.contain(
      '\nshm_exporter_http_scrape_duration_seconds_bucket{le="+Inf"} 3\n',
    );
  });

  const MALFORMED: readonly (readonly [
    what: string,
    bytes: string,
    status: number,
    text: RegExp,
  ])[] = [
    ['that is not HTTP', 'hello\r\n\r\n', 400, /\nmalformed request: Invalid method/],
    [
      'with two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      /\nmalformed request: /,
    ],
    ['without a Host header', 'GET / HTTP/1.1\r\n\r\n', 400, /\nthe request has no Host header/],
    [
      'that is not complete in time',
      'GET / HTTP/1.1\r\nX: ',
      408,
      /\nthe request was not complete/,
    ],
    [
      'with a large head',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(3000)}\r\n\r\n`,
      431,
      /\nthe head of the request is larger than http_max_header_bytes/,
    ],
    ['for a tunnel', 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n', 405, /\nmethod CONNECT/],
  ];
  for (const [what, bytes, status, expected] of MALFORMED)
    it(`count a request ${what} as ${status}, and the answer states the reason`, async () => {
      const selfMetrics = new SelfMetrics();
      const http = await serve([new FakeTarget()], {
        ...{ selfMetrics, headerMs: 1000, maxHeaderBytes: 2048 },
      });
      const { text } = http.send(bytes);
      await eventually('an answer', () => expected.test(text()));
      expect(text()).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      await eventually('the count', () => http.served.length === 1);
      expect(await selfMetrics.text([])).to.contain(
        `\nshm_exporter_http_responses_total{code="${status}"} 1\n`,
      );
    });

  it('count no connection without a request', async () => {
    const http = await serve([new FakeTarget()], { headerMs: 50 });
    const silent = http.send('');
    http.send('').socket.end();
    await eventually('it is closed', () => silent.socket.readableEnded);
    expect(http.served).to.deep.equal([]);
  });

  it('have exactly the statuses in the table of docs/http.md', () => {
    const page = readFileSync(join(PROJECT, 'docs/http.md'), 'utf8');
    const listed = [...page.matchAll(/^\| (\d{3})\b/gm)].map(([, status]) => Number(status));
    expect([...new Set(listed)]).to.deep.equal([...STATUSES]);
  });
});
