import { expect } from 'chai';
import { TargetReports, Restarts } from '#app/demo/processes.js';

describe('The demo reports', () => {
  const log = (text: string) => `2026-01-31T00:00:00.000Z ${text}`;

  it('one line for a lost target, and one when it is ready again', () => {
    const reports = new TargetReports();
    const lines = [
      'info target ads on 82 ready: 3 objects, 4 variables',
      'warning target ads on 82 waiting on a root of application ads, publisher closed its segment',
      'info target ads on 82 waiting on a root of application ads, no segment',
      'info target ads on 82 selects root h.1.ads of server key 82',
      'info target ads on 82 ready: 3 objects, 4 variables',
      'debug target ads on 82 waiting on nothing',
    ].map((text) => reports.of(log(text)));
    expect(lines).to.deep.equal([
      undefined,
      'the exporter: target ads on 82 is not ready: waiting on a root of application ads, publisher closed its segment',
      undefined,
      undefined,
      'the exporter: target ads on 82 is ready again',
      undefined,
    ]);
  });
});

describe('The demo restarts a process', () => {
  it('a limited number of times per minute', () => {
    let now = 0;
    const restarts = new Restarts(2, () => now);
    const takeAt = (time: number) => {
      now = time;
      return restarts.take();
    };
    const takes = [0, 30_000, 59_999, 60_000, 60_001, 90_000].map(takeAt);
    expect(takes).to.deep.equal([true, true, false, true, false, true]);
  });
});
