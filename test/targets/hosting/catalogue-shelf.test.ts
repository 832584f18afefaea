// One parsed catalogue for all targets of a thread, and a bounded number of them.
import { expect } from 'chai';
import { CatalogueShelf } from '#app/targets/hosting/host-target.js';

describe('CatalogueShelf', () => {
  const catalogue = (app: string) => ({
    file: `${app}.toml`,
    text: `app = "${app}"\nclasses = []`,
  });

  it('parses a text once', () => {
    const shelf = new CatalogueShelf();
    expect(shelf.get(catalogue('a'))).to.equal(shelf.get(catalogue('a')));
    expect(shelf.get(catalogue('b')).app).to.equal('b');
  });

  it('keeps the newest 64', () => {
    const shelf = new CatalogueShelf();
    const [oldest, next] = ['app', 'app0'].map((app) => shelf.get(catalogue(app)));
    for (let i = 1; i < 64; i++) shelf.get(catalogue(`app${i}`));
    expect(shelf.get(catalogue('app0'))).to.equal(next);
    expect(shelf.get(catalogue('app'))).not.to.equal(oldest);
  });
});
