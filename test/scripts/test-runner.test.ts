// Tests the report at the end of `npm test`: failed tests, and reasons for skipped tests.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { temporaryFolder } from '../support/temporary-folder.js';

const TESTS = `
import { deepEqual } from 'node:assert/strict';
describe('a till', () => {
  it('counts', () => deepEqual({ count: 1n }, { count: 2n }));
  it('closes', () => undefined);
  it('prints (it has no printer)', function () { this.skip(); });
});
`;

describe('npm test', function () {
  this.slow(5000);
  const folder = temporaryFolder();

  it('ends its report with the reasons of skipped tests, the errors of failed tests, and the numbers of tests', () => {
    const file = folder.write('till.test.mjs', TESTS);
    const { stdout, status } = spawnSync(process.execPath, ['scripts/test.js', file], {
      encoding: 'utf8',
      env: { ...process.env, FORBID_PENDING: '' },
    });
    const lines = stdout.trimEnd().split('\n').slice(-3);
    expect(lines[0]).to.equal('Skipped 1: it has no printer');
    expect(lines[1]).to.match(/^Failed: a till counts: /);
    expect(lines[2]).to.equal('1 passed, 1 failed, 1 skipped');
    expect(status).to.equal(1);
  });
});
