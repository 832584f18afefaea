// Tests a program that starts before its predecessor ends, as in a rolling restart.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageBlocks } from '../support/page-blocks.js';
import { PROJECT, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { pageWith } from './page.js';

const SALES = 'shop_till_sales_total{"object":"till.7"}';

describe('a program that starts before its predecessor ends', function () {
  this.slow(15_000);
  const programs = testPrograms();

  /** Returns the first program of a documentation page with another context id and number of sales. */
  const firstOf = (
    page: string,
    file: string,
    changes: Readonly<Record<string, string>>,
  ): string => {
    const blocks = pageBlocks(readFileSync(join(PROJECT, page), 'utf8'));
    const block = blocks.find((each) => each.file === file);
    let text = `${block?.lines.join('\n') ?? ''}\n`;
    for (const [found, replacement] of Object.entries(changes)) {
      expect(text, page).to.include(found);
      text = text.replace(found, replacement);
    }
    return text;
  };

  /** For each language: starts the first program of its documentation page, with this number of sales. */
  const starts = {
    C: (sales: number): Running => {
      const key = 'options.server_key = "c-till";';
      const source = firstOf('sdk/c/README.md', 'till.c', {
        [key]: `options.context_id = "${programs.contextId}"; options.server_key = "C";`,
        'shm_u64_add(&sales, 1)': `shm_u64_add(&sales, ${sales})`,
      });
      const file = programs.write(`shop${sales}.c`, source);
      const binary = programs.path(`shop${sales}`);
      const words = ['-I', join(PROJECT, 'sdk/c'), '-o', binary, file, '-pthread'];
      expect(spawnSync('cc', words, { encoding: 'utf8' }).stderr).to.equal('');
      return programs.command([binary]);
    },
    Python: (sales: number): Running => {
      const source = firstOf('sdk/python/README.md', 'shop.py', {
        'Publisher("shop-1")': `Publisher("Python", "${programs.contextId}")`,
        'sales.add(1)': `sales.add(${sales})`,
        'print("publishing"': 'import sys; print("publishing", file=sys.stderr',
      });
      const file = programs.write(`shop${sales}.py`, source);
      const path = `PYTHONPATH=${join(PROJECT, 'sdk/python')}`;
      return programs.command(['env', path, 'python3', file]);
    },
  };

  for (const [language, signal] of [
    ['C', 'SIGKILL'],
    ['Python', 'SIGTERM'],
  ] as const)
    it(`in ${language} is served with all its values after ${signal} ends the predecessor`, async () => {
      const url = await programs.exporter({ app: 'shop', server_keys: [language] }).url();
      const counts = (sales: number) =>
        pageWith(url, (page) => page.get(SALES) === String(sales), `${sales} sales are served`);
      const predecessor = starts[language](1);
      await predecessor.line(/publishing/);
      await counts(1);
      const program = starts[language](2);
      await program.line(/another publisher holds .* \(process \d+\); [^]*publishing/);
      await predecessor.stop(signal);
      await counts(2);
      await program.line(/shm_publisher: this publisher now holds /);
      expect(program.stderr.match(/shm_publisher:/g)).to.have.length(2);
      expect(await program.stop()).to.deep.equal({ status: 0, signal: null });
    });
});
