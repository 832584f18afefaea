import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { BUILT_IN_APPS, loadCatalogues } from '#app/catalogue/builtin.js';
import { parseCatalogue } from '#app/catalogue/catalogue.js';
import type { CatalogueText } from '#app/catalogue/catalogue.js';
import { Fault } from '#app/errors.js';

describe('loadCatalogues', () => {
  const own = (file: string, app: string, metric = `${app}_up`): CatalogueText => {
    const row = `{ name = "${metric}", type = "gauge", help = "H", var = "up" }`;
    const text = `app = "${app}"\n[[classes]]\nalias = "c"\nclass_ids = ["C"]\npaths = ["@root"]\nmetrics = [${row}]\n`;
    return { file, text };
  };

  it('returns the built-in applications ads, adh, ats and jvm (spec 2.1)', () => {
    expect([...loadCatalogues().keys()]).to.deep.equal([...BUILT_IN_APPS]);
    for (const [app, catalogue] of loadCatalogues()) {
      expect(catalogue.app).to.equal(app);
      expect(catalogue.families.size).to.be.greaterThan(30);
    }
  });

  it('returns built-in catalogues that equal their files in TOML', () => {
    for (const [app, { source, ...catalogue }] of loadCatalogues()) {
      const text = readFileSync(`src/catalogue/${app}.toml`, 'utf8');
      const { source: own, ...parsed } = parseCatalogue({ text, file: `${app}.toml` });
      expect([source.isJson, own.isJson]).to.deep.equal([true, undefined]);
      const whole = { depth: null, maxArrayLength: null, maxStringLength: null };
      expect(inspect(catalogue, whole)).to.equal(inspect(parsed, whole));
    }
  });

  it('returns catalogues whose metric names begin with the application (spec 2.2)', () => {
    for (const [app, { families }] of loadCatalogues())
      for (const name of families.keys()) expect(name).to.match(new RegExp(`^${app}_`));
  });

  it('returns the same object for a built-in catalogue each time', () => {
    const catalogues = loadCatalogues();
    const [ads] = catalogues.values();
    expect(catalogues.get('ads')).to.equal(ads);
    expect(catalogues.get('none')).to.equal(undefined);
  });

  it('adds the applications of user catalogues', () => {
    const catalogues = loadCatalogues([own('own.toml', 'my_app')]);
    expect([...catalogues.keys()]).to.deep.equal([...BUILT_IN_APPS, 'my_app']);
  });

  it('replaces a built-in catalogue completely by the user catalogue for the same application', () => {
    const families = loadCatalogues([own('ads.toml', 'ads')]).get('ads')?.families;
    expect([...(families?.keys() ?? [])]).to.deep.equal(['ads_up']);
  });

  it('keeps the text of each catalogue, so that another thread can parse the same catalogue', () => {
    for (const [app, catalogue] of loadCatalogues([own('own.toml', 'my_app')])) {
      const again = parseCatalogue(structuredClone(catalogue.source));
      expect(again.app).to.equal(app);
      expect([...again.families]).to.deep.equal([...catalogue.families]);
    }
  });

  it('refuses two files for one application, and reports every invalid file', () => {
    const refused: string[] = [];
    const catalogues = loadCatalogues(
      [
        own('a.toml', 'x'),
        { file: 'no.toml', text: 'app = y' },
        own('b.toml', 'x'),
        own('c.toml', 'y', 'z_up'),
        { file: 'empty.toml', text: '' },
      ],
      ({ message }) => refused.push(message),
    );
    expect(refused).to.deep.equal([
      'no.toml:1:7: expected a value (strings need quotes), found "y"\n  app = y\n        ^',
      'b.toml:1:7: app: a.toml is also a catalogue of the application x',
      'c.toml:6:21: classes[0].metrics[0].name: "z_up" must begin with y_',
      'empty.toml:1:1: app: found nothing, needed: the name of the application\nempty.toml:1:1: classes: found nothing, needed: an array of [[classes]] tables, which may be empty',
    ]);
    expect(catalogues.get('y')?.classes.map(({ alias }) => alias)).to.deep.equal(['c']);
  });

  it('throws if its caller passes no error handler', () =>
    expect(() => loadCatalogues([own('c.toml', 'y', 'z_up')])).to.throw(
      Fault,
      'must begin with y_',
    ));
});
