// A target view over a source in memory, and its text as a scrape would have it.
import { parseCatalogue } from '#app/catalogue/catalogue.js';
import type { Catalogue } from '#app/catalogue/catalogue.js';
import { compileFilters } from '#app/catalogue/filters.js';
import type { FilterSettings } from '#app/catalogue/filters.js';
import { Kernel } from '#app/exposition/kernel/kernel.js';
import { TargetView } from '#app/exposition/target-view.js';
import { headerText } from '#app/exposition/text-format.js';
import type { ManagedObject, Snapshot } from '#app/model.js';
import type { FakeSource } from '../support/fake-source.js';

export interface WatchOptions {
  readonly app?: string;
  readonly catalogue?: Catalogue | undefined;
  readonly filters?: Partial<FilterSettings>;
  readonly kernel?: Kernel;
}

const NO_FILTERS: FilterSettings = { classes: [], seedPathGroups: [], seedPaths: [] };

/** The catalogue of a class `shop` at the root and one `till` below it, with these rows. */
export const shopCatalogue = (rootRows: string, tillRows = ''): Catalogue =>
  parseCatalogue(
    `app = "shop"
[[classes]]
alias = "shop"
class_ids = ["Shop"]
paths = ["@root"]
metrics = [${rootRows}]
[[classes]]
alias = "till"
class_ids = ["Till"]
paths = ["floor.{floor}.{till}"]
metrics = [${tillRows}]
[seed_path_groups]
floors = ["floor"]`,
    'shop.toml',
  );

export function watched(source: FakeSource, root: ManagedObject, options: WatchOptions = {}) {
  const { app = 'shop', catalogue, filters, kernel = new Kernel() } = options;
  const clashes: string[] = [];
  const view = new TargetView({
    app,
    kernel,
    source,
    root,
    catalogue,
    filters: compileFilters(catalogue, { ...NO_FILTERS, ...filters }),
    onClash: (series) => clashes.push(series),
  });
  /** Takes in and copies all there is, and makes the text. */
  const render = (): Snapshot => {
    view.absorb(source.sync().changes);
    while (view.bindMore());
    view.refresh();
    return view.render();
  };
  return {
    view,
    kernel,
    clashes,
    render,
    /** The series lines, without headers. */
    lines: (): string[] => render().families.flatMap(({ pieces }) => linesOf(pieces)),
    /** The whole text, header lines included. */
    text: (): string =>
      render()
        .families.map(({ facts, pieces }) => headerText(facts) + Buffer.concat(pieces).toString())
        .join(''),
  };
}

const linesOf = (pieces: readonly Uint8Array[]): string[] =>
  Buffer.concat(pieces).toString().split('\n').slice(0, -1);
