// Tests the reference page of the bridge.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { keyOf } from '#app/rules/table.js';
import { OwnRoot } from '#app/bridge/segment/own-root.js';
import { BRIDGE, COMPONENT } from '#app/bridge/settings/component-table.js';
import { OPTIONS } from '#app/bridge/settings/options.js';
import { ODDITIES } from '#app/bridge/tree/component-tree.js';
import { DeclaredRows } from '#app/exposition/rows/declared-rows.js';
import type { FamilyMetadata, ManagedObject } from '#app/model.js';
import { freshSegments } from '../support/segments.js';

describe('docs/bridge-configuration.md', () => {
  const page = readFileSync('docs/bridge-configuration.md', 'utf8');
  const segments = freshSegments();

  for (const key of Object.keys({ ...BRIDGE, ...COMPONENT }).map(keyOf))
    it(`has a heading for the key ${key}`, () => expect(page).to.include(`\n### ${key}\n`));

  for (const name of [
    ...Object.values(OPTIONS).map(({ flags }) => flags),
    ...Object.keys(ODDITIES),
  ])
    it(`has a row for ${name}`, () => expect(page).to.include(`\n| \`${name}\` | `));

  it('shows defaults in TOML syntax', () => {
    expect(page).to.match(/\n### url\n\n.*\n\nRequired\. Allowed: an address /);
    expect(page).to.match(/\n### max_body_bytes\n\n.*\n\nDefault: `67108864`\. /);
    expect(page).to.match(/\n### tls_verify\n\n.*\n\nDefault: `true`\. /);
  });

  it('lists each metric of the bridge under the name that the exporter exposes', () => {
    const publisher = segments.publish('82', { capacity: { records: 512, slots: 512 } });
    new OwnRoot(publisher, { host: 'h', number: 1, name: 'ads', url: 'http://h/sharedmem' });
    const watch = segments.poller('82');
    let pollResult = watch.poll();
    while (pollResult.hasMore) pollResult = watch.poll();
    const metrics = new DeclaredRows('shm_bridge');
    const familiesOf = ({ variables, children }: ManagedObject): FamilyMetadata[] => [
      ...[...variables].map((variable) => metrics.rowFor(variable).family),
      ...[...children].flatMap(familiesOf),
    ];
    const all = [...(pollResult.source?.roots ?? [])].flatMap(familiesOf);
    const families = new Map(all.map((family) => [family.name, family]));
    expect(families.size).to.be.above(20);
    for (const { name, type, help } of families.values())
      expect(page).to.match(
        /_(failure|oddity)_/.test(name)
          ? new RegExp(`\`${name}\\{object="`)
          : new RegExp(`\n\\| \`${name}\` \\| ${type} \\| ${help.slice(0, 20)}`),
      );
  });

  it('aligns the cells of every table', () => {
    for (const table of page.split('\n\n').filter((block) => block.includes('| --- |'))) {
      const rows = table.split('\n').filter((row) => row.startsWith('|'));
      const widths = rows.map((row) => row.split(/(?<!\\)\|/).length);
      expect(new Set(widths).size, table).to.equal(1);
    }
  });
});
