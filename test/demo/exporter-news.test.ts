import { expect } from 'chai';
import { ExporterNews } from '#app/demo/processes.js';

describe('news of the exporter in the demo', () => {
  const log = (text: string) => `2026-01-31T00:00:00.000Z ${text}`;

  it('are one line for a target that is lost, and one when it is back', () => {
    const news = new ExporterNews();
    const said = [
      'info target ads on 82 ready: 3 objects, 4 variables',
      'warning target ads on 82 waiting on a root of application ads, publisher closed its segment',
      'info target ads on 82 waiting on a root of application ads, no segment',
      'info target ads on 82 takes root h.1.ads of server key 82',
      'info target ads on 82 ready: 3 objects, 4 variables',
      'debug target ads on 82 waiting on nothing',
    ].map((text) => news.of(log(text)));
    expect(said).to.deep.equal([
      undefined,
      'the exporter: target ads on 82 is not ready: waiting on a root of application ads, publisher closed its segment',
      undefined,
      undefined,
      'the exporter: target ads on 82 is ready again',
      undefined,
    ]);
  });
});
