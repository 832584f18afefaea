// Compares whole pages with recorded ones. UPDATE_GOLDEN=1 writes test/golden/ anew: look at the
// difference before it is committed.
import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, testPrograms } from '../support/processes.js';
import { applicationPart, readyPage } from './page.js';

describe('the page of a simulated application', function () {
  this.slow(3000);
  const programs = testPrograms();

  for (const [index, app] of ['ads', 'adh', 'ats'].entries())
    it(`equals test/golden/${app}.prom`, async () => {
      const key = String(index + 1);
      programs.simulate(
        ...['--app', app, '--server-key', key, '--root', `golden.1.${app}`],
        ...['--objects', '60', '--rate', '0', '--seed', '42'],
      );
      const url = await programs.exporter({ app, server_keys: [key] }).url();
      const page = applicationPart(await readyPage(url));
      const path = join(PROJECT, `test/golden/${app}.prom`);
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, page);
      expect(page).to.equal(readFileSync(path, 'utf8'));
    });
});
