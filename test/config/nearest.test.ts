// Which known word a mistyped one is taken for.
import { expect } from 'chai';
import { nearest } from '#app/config/nearest.js';

describe('nearest', () => {
  const known = ['app', 'instance', 'metrics_port', 'metrics_path', 'server_keys'];
  const table = [
    ['metrics_prot', 'metrics_port'],
    ['metricsPath', 'metrics_path'],
    ['server_key', 'server_keys'],
    ['ap', 'app'],
    ['instnace', 'instance'],
    ['APP', undefined],
    ['x', undefined],
    ['', undefined],
    ['stdout', undefined],
    ['x'.repeat(100_000), undefined],
  ] as const;
  for (const [word, wanted] of table)
    it(`of ${JSON.stringify(word.slice(0, 20))} is ${wanted ?? 'nothing'}`, () =>
      expect(nearest(word, known)).to.equal(wanted));
});
