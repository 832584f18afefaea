// Tests the reference page of the exporter's configuration.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { keyOf } from '#app/rules/table.js';
import { checked } from '#app/rules/problems.js';
import { SCOPE, TARGET, TARGETS_FILE } from '#app/config/file-rule.js';
import { OPTIONS } from '#app/config/options.js';
import { SETTINGS, isReloaded } from '#app/config/settings.js';
import type { TableFields } from '#app/rules/table.js';
import { parseTargets } from '#app/config/targets-file.js';

describe('docs/configuration.md', () => {
  const page = readFileSync('docs/configuration.md', 'utf8');

  const tables: readonly TableFields[] = [SETTINGS, TARGET, SCOPE];
  const names = tables.flatMap((fields) => Object.keys(fields));
  for (const key of new Set(names.map(keyOf)))
    it(`names the key ${key}`, () =>
      expect(page).to.match(new RegExp(`\n### ${key}\n|^${key} = |\\[${key}\\]`, 'm')));

  for (const { flags } of Object.values(OPTIONS))
    it(`has a row for ${flags}`, () => expect(page).to.include(`\n| \`${flags}\` | `));

  it('aligns the cells of every table', () => {
    for (const table of page.split('\n\n').filter((block) => block.includes('| --- |'))) {
      const rows = table.split('\n').filter((row) => row.startsWith('|'));
      const widths = rows.map((row) => row.split(/(?<!\\)\|/).length);
      expect(new Set(widths).size, table).to.equal(1);
    }
  });

  it('states for each top-level key whether a reload applies the key', () => {
    for (const name of Object.keys(SETTINGS)) {
      const key = keyOf(name);
      const [, section = ''] = page.split(`\n### ${key}\n`);
      const [own = ''] = section.split('\n#');
      expect(own.includes('A reload applies it.'), key).to.equal(isReloaded(name));
    }
  });

  it('shows defaults in TOML syntax', () => {
    expect(page).to.include('Default: `["82", "456", "999"]`. Allowed: an array of 1 to 1024 ');
    expect(page).to.match(/\n### metrics_port\n\n.*\n\nDefault: `9464`\. Allowed: an integer /);
    expect(page).to.match(/\n### metrics\n\n.*\n\nRequired\. Allowed: /);
  });

  it('shows a legacy target file that loads', () => {
    const example = page.slice(
      page.lastIndexOf('```\n', page.lastIndexOf('```') - 1) + 4,
      page.lastIndexOf('```'),
    );
    expect(checked(parseTargets('t', example), TARGETS_FILE).targets).to.have.lengthOf(2);
  });
});
