// The page about outputs shows files as they are.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROMETHEUS } from './rule-files.js';

const read = (file: string): string => readFileSync(file, 'utf8');

describe('docs/outputs.md', () => {
  it('shows the scrape configuration as it is', () => {
    const [, shown = ''] =
      /^```yaml\n(scrape_configs:\n.*?)^```$/ms.exec(read('docs/outputs.md')) ?? [];
    expect(shown).to.match(/^scrape_configs:\n/);
    expect(read(join(PROMETHEUS, 'prometheus.yml')).endsWith(shown)).to.equal(true);
  });
});
