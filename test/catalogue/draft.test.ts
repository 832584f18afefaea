import { expect } from 'chai';
import { parse } from 'toml';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { sharedText } from './recorded-tree.js';
import { needs } from '../support/needs.js';

interface DraftApp {
  readonly classes: readonly {
    readonly alias: string;
    readonly class_ids: readonly string[];
    readonly metrics: readonly { readonly name: string }[];
  }[];
  readonly seed_path_groups: Readonly<Record<string, readonly string[]>>;
}

describe('the built-in catalogue', () => {
  let draft: Readonly<Record<string, DraftApp>> = {};
  before(function () {
    const text = sharedText('catalogue-draft.toml');
    needs(this, text !== undefined, 'the drafted catalogue is not beside the project');
    draft = parse(text) as Readonly<Record<string, DraftApp>>;
  });

  for (const [app, catalogue] of loadCatalogues()) {
    // The jvm catalogue uses the names of its publisher and of client_java, not drafted ones.
    if (app === 'jvm') continue;
    const counts = (names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, names.filter((one) => one === name).length]));

    it(`${app} has every row of the draft for ${app}`, () => {
      for (const { alias, class_ids, metrics } of draft[app]?.classes ?? []) {
        const kept = catalogue.classes.find((owner) => owner.alias === alias);
        expect(kept?.classIds).to.deep.equal(class_ids);
        expect(counts(kept?.rows.map(({ family }) => family.name) ?? [])).to.deep.equal(
          counts(metrics.map(({ name }) => name)),
        );
      }
    });

    it(`${app} has every class alias and filter group of the draft for ${app}`, () => {
      const groups = [...catalogue.seedPathGroups.keys()];
      expect(groups).to.include.members(Object.keys(draft[app]?.seed_path_groups ?? {}));
      expect(catalogue.classes.map(({ alias }) => alias)).to.deep.equal(
        draft[app]?.classes.map(({ alias }) => alias),
      );
    });
  }
});
