// testView() returns a target view of a source in memory, and its text as a scrape would show it.
import type { BudgetLimits } from '#app/budget.js';
import { parseCatalogue } from '#app/catalogue/catalogue.js';
import type { Catalogue } from '#app/catalogue/catalogue.js';
import { compileFilters, compilePathLabels } from '#app/catalogue/match/filters.js';
import type { FilterSettings } from '#app/catalogue/match/filters.js';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import type { TextFormat } from '#app/exposition/page/text-page.js';
import { DEFAULT_LIMITS } from '#app/exposition/target-limits.js';
import type { TargetLimits } from '#app/exposition/target-limits.js';
import { TargetView } from '#app/exposition/target-view.js';
import type { ManagedObject, Snapshot, Source } from '#app/model.js';
import { runToEnd } from '#app/run-to-end.js';
import { linesOf as wholeText } from '../support/snapshot-of.js';

export interface TestViewOptions {
  readonly app?: string;
  readonly catalogue?: Catalogue | undefined;
  readonly filters?: Partial<FilterSettings>;
  readonly kernel?: Kernel;
  readonly variable?: string;
  readonly timeZone?: string;
  readonly showUncatalogued?: boolean;
  readonly pathLabels?: readonly string[];
  readonly bindLimits?: () => BudgetLimits;
  readonly limits?: Partial<TargetLimits>;
  readonly unixMs?: () => number;
}

const NO_FILTERS: FilterSettings = { classes: [], seedPathGroups: [], seedPaths: [] };

/** Returns a catalogue with these rows for class `shop`, the root, and class `till` below it. */
export const shopCatalogue = (rootRows: string, tillRows = ''): Catalogue =>
  parseCatalogue({
    text: `app = "shop"
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
    file: 'shop.toml',
  });

export function testView(source: Source, root: ManagedObject, options: TestViewOptions = {}) {
  const { app = 'shop', catalogue, filters, kernel = new Kernel() } = options;
  const { variable = '', timeZone = '', showUncatalogued = false, pathLabels = [] } = options;
  const { bindLimits, limits, unixMs } = options;
  const clashes: string[] = [];
  const omitted: string[] = [];
  const view = new TargetView({
    app,
    kernel,
    source,
    root,
    catalogue,
    filters: compileFilters(catalogue, { ...NO_FILTERS, ...filters }),
    variable,
    timeZone,
    showUncatalogued,
    pathLabels: compilePathLabels(pathLabels),
    onClash: (series) => clashes.push(series),
    limits: { ...DEFAULT_LIMITS, ...limits },
    onOmitted: (limit, name) => omitted.push(`${limit}: ${name}`),
    ...(bindLimits !== undefined && { bindLimits }),
    ...(unixMs !== undefined && { unixMs }),
  });
  /** Applies all changes, copies all values and renders. */
  const render = (): Snapshot => {
    view.applyChanges(source.readChanges().changes);
    while (view.bindMore());
    runToEnd(view.copyingValues());
    return runToEnd(view.rendering());
  };
  /** Returns the application's page in this format. */
  const page = (format: TextFormat): string => {
    const snapshot = render();
    const made = format.page({ snapshot, internal: [] });
    const text = Buffer.concat(made.buffers).toString();
    made.release();
    return text;
  };
  return {
    view,
    kernel,
    clashes,
    /** The omitted items, each after the name of the limit that omitted it. */
    omitted,
    render,
    /** The series lines, without headers. */
    lines: (): string[] => linesOf(render()),
    linesOf,
    page,
    /** The whole text, header lines included. */
    text: (): string => page(TEXT),
  };
}

const linesOf = (snapshot: Snapshot): string[] => wholeText(snapshot).split('\n').slice(0, -1);
