// Tests the metrics of the Python package by reading the bytes of their segments.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT } from '../support/processes.js';

describe('metrics in Python', function () {
  this.slow(60_000).timeout(600_000);

  it('are in the segment as sdk/python/check_metrics.py expects', () => {
    const check = join(PROJECT, 'sdk/python/check_metrics.py');
    const { status, stdout, stderr } = spawnSync('python3', [check], { encoding: 'utf8' });
    expect(status, stdout + stderr).to.equal(0);
  });
});
