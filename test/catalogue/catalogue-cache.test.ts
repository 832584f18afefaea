// Tests CatalogueCache: the targets of a thread share a bounded number of parsed catalogues.
import { expect } from 'chai';
import { CatalogueCache } from '#app/catalogue/builtin.js';

describe('CatalogueCache', () => {
  const catalogue = (app: string) => ({
    file: `${app}.toml`,
    text: `app = "${app}"\nclasses = []`,
  });

  it('parses a text once', () => {
    const catalogues = new CatalogueCache();
    expect(catalogues.get(catalogue('a'))).to.equal(catalogues.get(catalogue('a')));
    expect(catalogues.get(catalogue('b')).app).to.equal('b');
  });

  it('keeps the newest 64 catalogues', () => {
    const catalogues = new CatalogueCache();
    const [oldest, next] = ['app', 'app0'].map((app) => catalogues.get(catalogue(app)));
    for (let i = 1; i < 64; i++) catalogues.get(catalogue(`app${i}`));
    expect(catalogues.get(catalogue('app0'))).to.equal(next);
    expect(catalogues.get(catalogue('app'))).not.to.equal(oldest);
  });
});
