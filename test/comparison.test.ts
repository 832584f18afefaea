// Each feature that docs/comparison.md claims for this exporter has a test with that title.
import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync('docs/comparison.md', 'utf8');
/** The cells of each row. */
const ROWS = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| |'))
  .map((line) => line.slice(2, -2).split(' | '));

describe('the comparison with other exporters', () => {
  for (const [feature = '', ...cells] of ROWS)
    it(`has a test or a reason for the row "${feature}"`, () => {
      expect(cells).to.have.length(4);
      const ours = cells.at(-1) ?? '';
      if (ours.startsWith('no: ')) {
        expect(ours.length).to.be.above(30);
        return;
      }
      expect(ours).to.match(/^yes[:;] /);
      const tests = [...ours.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)];
      expect(tests).to.not.have.length(0);
      for (const [, title = '', path = ''] of tests) {
        const file = join('docs', path);
        expect(existsSync(file), file).to.equal(true);
        const titles = [...readFileSync(file, 'utf8').matchAll(/\bit\(\s*(['`])(.*?)\1,/g)];
        const found = titles.some(([, , each = '']) =>
          each.replace(/^\$\{\w+\}: /, '').startsWith(title),
        );
        expect(found, `${file}: ${title}`).to.equal(true);
      }
    });

  it('compares more than thirty features', () => expect(ROWS.length).to.be.above(30));
});
