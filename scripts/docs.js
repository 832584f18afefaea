// Writes the generated pages of docs/, or with --check says which of them are stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { metricsMarkdown } from '../dist/catalogue/metrics-markdown.js';
import { settingsMarkdown } from '../dist/config/settings-doc.js';

const pages = { 'docs/configuration.md': settingsMarkdown, 'docs/metrics.md': metricsMarkdown };
const isCheck = process.argv.includes('--check');

for (const [path, make] of Object.entries(pages)) {
  const text = make();
  if (!isCheck) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${path} is stale: run "npm run docs"`);
    process.exitCode = 1;
  }
}
