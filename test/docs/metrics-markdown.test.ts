import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { metricsMarkdown } from './metrics-markdown.js';

describe('docs/metrics.md', () => {
  const page = metricsMarkdown();

  it('is up to date', () => expect(readFileSync('docs/metrics.md', 'utf8')).to.include(page));

  it('names every metric, class alias and filter group', () => {
    for (const { families, classes, seedPathGroups } of loadCatalogues().values()) {
      for (const name of families.keys())
        expect(page).to.match(
          new RegExp(`^\\* (\`${name}(\\{.+\\})?\`.*: .+\\.|As in .+ \`${name}\`.*)$`, 'm'),
        );
      for (const { alias } of classes) expect(page).to.include(`### \`${alias}\``);
      for (const group of seedPathGroups.keys()) expect(page).to.include(`* \`${group}\`: `);
    }
  });

  it('refers to an earlier application for metrics that have the same labels and help there', () => {
    expect(page).to.include('* As in [ads](#ads): `ats_process_pid`, ');
    expect(page).to.include('* `ats_process_info{version,release}`: Version and ');
  });
});
