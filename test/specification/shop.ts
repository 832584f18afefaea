// A small application for these tests: its trees, its targets, and the metrics to expect.
import { applicationPart, samplesOf, scrape, seriesOf } from '../end-to-end/page.js';

/** A root with a till, and a drawer below the till. `count` makes the values of each tree different. */
export const shop = (root: string, count: number) => [
  { id: root, class: 'Shop', variables: { count: { type: 'u64', value: count } } },
  {
    id: `${root}.till`,
    parent: root,
    class: 'Till',
    variables: { sales: { type: 'u64', value: count * 10, kind: 'counter' } },
  },
  {
    id: `${root}.till.drawer`,
    parent: `${root}.till`,
    class: 'Drawer',
    variables: { coins: { type: 'u64', value: count * 100, kind: 'gauge' } },
  },
];

/** The series of a `shop` tree, if no filter is set. */
export const shopSeries = (app: string, count: number): Record<string, string> => ({
  [`${app === 'shop' ? '' : `${app}_`}shop_count{"object":"@root"}`]: String(count),
  [`${app}_till_sales_total{"object":"till"}`]: String(count * 10),
  [`${app}_drawer_coins{"object":"till.drawer"}`]: String(count * 100),
});

/** The application series of a page, by name and labels. */
export const application = (page: string): Record<string, string> =>
  Object.fromEntries(seriesOf(applicationPart(page)));

const toml = (name: string, table: Readonly<Record<string, unknown>>): string =>
  Object.entries(table)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
    .reduce((text, line) => text + line, `\n[[${name}]]\n`);

/** `[[targets]]` tables in TOML. */
export const targets = (...tables: readonly Readonly<Record<string, unknown>>[]): string =>
  tables.map((table) => toml('targets', table)).join('');

/** `[[metric_scopes]]` tables in TOML: one for each name of a scope, with the patterns of the scope. */
export const scopes = (tables: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(tables)
    .map(([name, metrics]) => ({ name, metrics }))
    .map((scope) => toml('metric_scopes', scope))
    .join('');

/** The labels of `shm_exporter_target_info` on a page. */
export const targetOf = (page: string): Readonly<Record<string, string>> =>
  samplesOf(page).find(({ name }) => name === 'shm_exporter_target_info')?.labels ?? {};

/** The value of an internal metric on a page. */
export const internal = (page: string, name: string): number =>
  Number(seriesOf(page).get(`shm_exporter_${name}{}`));

/**
 * The internal metrics of all targets, by name and labels. The request for them does not count as a scrape.
 */
export const aside = async (url: string): Promise<ReadonlyMap<string, string>> =>
  seriesOf((await scrape(new URL('/-/metrics', url).href)).body);

/** A catalogue of shops whose only row shows a time. */
export const TIME_CATALOGUE = `app = "shop"
[[classes]]
alias = "shop"
class_ids = ["Shop"]
paths = ["@root"]
metrics = [{ name = "shop_start_seconds", type = "gauge", help = "Help.", var = "time", conv = "timestamp" }]
`;
