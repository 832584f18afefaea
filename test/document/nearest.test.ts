import { expect } from 'chai';
import { hint, nearest } from '#app/document/nearest.js';

describe('nearest', () => {
  const options = ['--root', '--metrics-port', '--web.listen-address', '--a-file', '--b-file'];
  const known = ['server', 'service', 'source_server', 'var', 'at', 'this-is', ...options];
  const rows = [
    ['servr', 'server'],
    ['Server', 'server'],
    ['servcie', 'service'],
    ['vars', 'var'],
    ['vra', 'var'],
    ['ta', 'at'],
    ['help', undefined],
    ['x', undefined],
    ['sources', undefined],
    ['', undefined],
    ['--port', '--metrics-port'],
    ['listen-address', '--web.listen-address'],
    ['file', undefined],
    ['ort', undefined],
    ['--metrics', '--metrics-port'],
    ['--web', '--web.listen-address'],
    ['--a', undefined],
    ['this', 'this-is'],
    ['source', 'source_server'],
    ['is', undefined],
  ] as const;
  for (const [word, wanted] of rows)
    it(`finds ${wanted === undefined ? 'no name' : `"${wanted}"`} for "${word}"`, () =>
      expect(nearest(word, known)).to.equal(wanted));

  it('formats a hint, or an empty string if no known name is near', () => {
    expect(hint('servr', known)).to.equal(' (did you mean "server"?)');
    expect(hint('help', known)).to.equal('');
  });
});
