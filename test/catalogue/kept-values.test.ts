// What a build keeps of the built-in catalogues.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { BUILT_IN_APPS, catalogueOf, loadCatalogues } from '#app/catalogue/builtin.js';
import { keepValues, valuesOf } from '#app/catalogue/kept-values.js';
import { parseToml } from '#app/document/toml-file.js';

const read = (file: string) =>
  readFileSync(fileURLToPath(import.meta.resolve(`#app/catalogue/${file}`)));

describe('what a build keeps of a built-in catalogue', () => {
  for (const app of BUILT_IN_APPS)
    it(`is what the text of ${app} says`, () => {
      const text = read(`${app}.toml`).toString();
      const values = valuesOf(read(`${app}.values`), text);
      expect(values).to.deep.equal(parseToml('x.toml', text).values);
    });

  it('has numbers, texts and tables as they were', () => {
    const text = 'a = 9007199254740993\nb = [0.5, "\\u00e9"]\n[c.d]\ne = true\n';
    const kept = keepValues({ file: 'x.toml', text });
    expect(valuesOf(kept, text)).to.deep.equal({
      a: 9007199254740993n,
      b: [0.5, 'é'],
      c: { d: { e: true } },
    });
  });

  it('is not taken for another text, nor if it was cut or is something else', () => {
    const text = 'a = 1\n';
    const kept = keepValues({ file: 'x.toml', text });
    expect(valuesOf(kept, 'a = 2\n')).to.equal(undefined);
    for (let length = 0; length < kept.length; length++)
      expect(valuesOf(kept.subarray(0, length), text)).to.equal(undefined);
    expect(valuesOf(Buffer.from('no such bytes'), text)).to.equal(undefined);
  });
});

describe('the catalogue of a text that was checked', () => {
  const ads = loadCatalogues().get('ads');

  it('is the same one where it was checked, and an equal one elsewhere', () => {
    if (ads === undefined) throw new Error('There is a catalogue for ads');
    expect(catalogueOf(ads.source)).to.equal(ads);
    const elsewhere = catalogueOf(structuredClone(ads.source));
    expect(elsewhere).not.to.equal(ads);
    expect([...elsewhere.families]).to.deep.equal([...ads.families]);
  });

  it('is that of its text, also if its file has the name of a built-in one', () => {
    if (ads === undefined) throw new Error('There is a catalogue for ads');
    const { file, text } = ads.source;
    const [[name, { help }] = ['', { help: '' }]] = ads.families;
    const changed = catalogueOf({ file, text: text.replace(help, 'Another one.') });
    expect(changed.families.get(name)?.help).to.equal('Another one.');
  });
});
