// The pages about alerts and outputs show files as they are, and lead to what there is.
import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROMETHEUS } from './rule-files.js';

const read = (file: string): string => readFileSync(file, 'utf8');

/** As links name a heading. */
const anchorsIn = (file: string): readonly string[] =>
  [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );

for (const page of ['docs/alerts.md', 'docs/outputs.md'])
  describe(page, () => {
    it('leads to files and headings that there are', () => {
      const links = [...read(page).matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g)];
      expect(links.length).to.be.above(4);
      for (const [, path = '', heading] of links) {
        const file = path === '' ? page : join('docs', path);
        expect(existsSync(file), file).to.equal(true);
        if (heading !== undefined) expect(anchorsIn(file), file).to.include(heading);
      }
    });
  });

describe('docs/outputs.md', () => {
  it('shows the scrape configuration as it is', () => {
    const [, shown = ''] =
      /^```yaml\n(scrape_configs:\n.*?)^```$/ms.exec(read('docs/outputs.md')) ?? [];
    expect(shown).to.match(/^scrape_configs:\n/);
    expect(read(join(PROMETHEUS, 'prometheus.yml')).endsWith(shown)).to.equal(true);
  });
});
