import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILT_IN_APPS, loadCatalogues } from '#app/catalogue/builtin.js';
import { Fault } from '#app/errors.js';

describe('loadCatalogues', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  const write = (name: string, app: string, metric = `${app}_up`): string => {
    const path = join(folder, name);
    const row = `{ name = "${metric}", type = "gauge", help = "H", var = "up" }`;
    writeFileSync(
      path,
      `app = "${app}"\n[[classes]]\nalias = "c"\nclass_ids = ["C"]\npaths = ["@root"]\nmetrics = [${row}]\n`,
    );
    return path;
  };

  it('gives the built-in applications ads, adh and ats (spec 2.1)', () => {
    expect([...loadCatalogues().keys()]).to.deep.equal([...BUILT_IN_APPS]);
    for (const [app, catalogue] of loadCatalogues()) {
      expect(catalogue.app).to.equal(app);
      expect(catalogue.families.size).to.be.greaterThan(50);
    }
  });

  it('begins every metric name with the name of its application (spec 2.2)', () => {
    for (const [app, { families }] of loadCatalogues())
      for (const name of families.keys()) expect(name).to.match(new RegExp(`^${app}_`));
  });

  it('adds the applications of the user', () => {
    const catalogues = loadCatalogues([write('own.toml', 'my_app', 'my_app_up')]);
    expect([...catalogues.keys()]).to.deep.equal([...BUILT_IN_APPS, 'my_app']);
  });

  it('lets a file of the user replace a built-in catalogue as a whole', () => {
    const families = loadCatalogues([write('ads.toml', 'ads')]).get('ads')?.families;
    expect([...(families?.keys() ?? [])]).to.deep.equal(['ads_up']);
  });

  it('refuses two files for one application, and tells of every bad file in one go', () => {
    const missing = join(folder, 'none.toml');
    const files = [
      write('a.toml', 'x'),
      missing,
      write('b.toml', 'x'),
      write('c.toml', 'y', 'z_up'),
    ];
    let message = '';
    try {
      loadCatalogues(files);
    } catch (thrown) {
      if (thrown instanceof Fault) ({ message } = thrown);
    }
    const lines = message.split('\n');
    expect(lines[0]).to.include('catalogue_files[1]: cannot be read: ENOENT').and.include(missing);
    expect(lines[1]).to.equal(
      `catalogue_files[2]: ${files[2] ?? ''} and ${files[0] ?? ''} are both for the application x`,
    );
    expect(lines[2]).to.include('catalogue_files[3]: ').and.include('must begin with y_');
    expect(lines.length).to.equal(3);
  });
});
