// The process returns unused memory.
import { expect } from 'chai';
import { freePages } from '#app/exporter/service-metrics.js';

const MB = 1_000_000;

describe('freePages', () => {
  it('returns pages once the process has grown by 4 MB and is idle', () => {
    let bytes = 0;
    let returned = 0;
    const check = freePages(
      () => bytes,
      () => {
        returned++;
        bytes -= 2 * MB;
      },
    );
    const table = [
      [100 * MB, 0, 'the first size'],
      [105 * MB, 1, 'grown by less than a tenth'],
      [106 * MB, 1, 'hardly larger than after that'],
      [130 * MB, 1, 'grows'],
      [130 * MB, 2, 'at rest again'],
      [127 * MB, 2, 'smaller'],
    ] as const;
    for (const [size, expected, what] of table) {
      bytes = size;
      check();
      expect(returned, what).to.equal(expected);
    }
  });

  it('does nothing while the size of the process cannot be read', () => {
    const check = freePages(
      () => {
        throw new Error('EMFILE: too many open files, uv_resident_set_memory');
      },
      () => expect.fail('no size, no search'),
    );
    expect(check).not.to.throw();
    expect(check).not.to.throw();
  });
});
