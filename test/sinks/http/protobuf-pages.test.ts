// Protobuf pages over HTTP: of a target, of a scope and of the host, plain and with gzip.
import { expect } from 'chai';
import { compileScope } from '#app/exposition/page/scope.js';
import { FakeTarget } from '../../support/fake-target.js';
import { decodedFamilies, decodedSeries } from '../../support/protobuf-page.js';
import { freshServing } from '../../support/serving-http.js';

const DELIMITED =
  'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited';

describe('the HTTP responder, asked for protobuf', () => {
  const serve = freshServing();
  const only = compileScope({ name: 'only', metrics: ['demo_*'] });

  const target = (): FakeTarget => {
    const made = new FakeTarget();
    made.text = Array.from({ length: 200 }, (_, i) => `demo_value{i="${i}"} ${i}\n`).join('');
    return made;
  };
  const values = Array.from({ length: 200 }, (_, i) => [`demo_value[["i","${i}"]]`, String(i)]);

  async function ask(path: string, coding: string) {
    const targets = [target()];
    const { origin } = await serve(targets, {
      scope: (name) => (name === only.name ? only : undefined),
      hostPage: { isEnabled: () => true, onLeftOut: () => undefined },
    });
    const headers = { accept: `${DELIMITED};q=0.6,*/*;q=0.1`, 'accept-encoding': coding };
    const response = await fetch(`${origin}${path}`, { headers });
    const series = decodedSeries(decodedFamilies(new Uint8Array(await response.arrayBuffer())));
    return { response, series, held: targets.map(({ held }) => held) };
  }

  const PATHS = [
    ['a target', '/metrics?server_key=82', 'shm_exporter_target_info'],
    ['a scope', '/metrics/only?server_key=82', undefined],
    ['the host', '/-/all', 'shm_target_info'],
  ] as const;
  for (const [what, path, last] of PATHS)
    for (const coding of ['identity', 'gzip'])
      it(`sends the page of ${what} with the coding ${coding}`, async () => {
        const { response, series, held } = await ask(path, coding);
        expect(response.headers.get('content-type')).to.equal(
          'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited',
        );
        expect(response.headers.get('content-encoding')).to.equal(
          coding === 'gzip' ? 'gzip' : null,
        );
        expect(series.slice(0, values.length)).to.deep.equal(values);
        if (last === undefined) expect(series).to.have.lengthOf(values.length);
        else expect(series.at(-1)?.[0]).to.match(new RegExp(`^${last}\\[`));
        expect(held).to.deep.equal([0]);
      });

  it('sends /-/metrics as text 0.0.4', async () => {
    const { origin } = await serve([target()]);
    const response = await fetch(`${origin}/-/metrics`, { headers: { accept: DELIMITED } });
    expect(response.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    await response.text();
  });
});
