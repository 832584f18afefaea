// The page at `/`: shows people what this process exports, on screens of any width.
import type { Target, TargetStatus } from '../../model.js';
import { parametersOf } from '../routing-parameters.js';
import { route } from './route.js';

export interface StatusPageFacts {
  /** Base scrape path, such as `/metrics`. */
  readonly path: string;
  readonly version: string;
  /** Names of the scopes that apply to a target. */
  readonly scopeNames: (target: Target) => readonly string[];
}

interface Row extends StatusPageFacts {
  readonly target: Target;
  readonly status: TargetStatus;
  /** The query that selects the target; undefined if no query can. */
  readonly query: string | undefined;
}

const SERIES = 'shm_exporter_target_series';

/** The HTML of each column for one target. */
const COLUMNS: Readonly<Record<string, (row: Row) => string>> = {
  app: (row) => link(row, row.target.app, row.path),
  'server key': ({ status }) => breakable(status.serverKey),
  root: ({ status, target }) =>
    breakable(status.root || (target.instance && `hint ${target.instance}`)),
  state: ({ status: { isReady, progress } }) =>
    isReady ? 'ready' : breakable(`waiting on ${progress.reason}`),
  objects: ({ status }) => share(status.progress.objects),
  variables: ({ status }) => share(status.progress.variables),
  series: ({ target }) => {
    const series = target.internal().find(({ name }) => name === SERIES);
    return series === undefined ? '' : String(series.value);
  },
  partition: ({ status }) => String(status.partition),
  publisher: ({ status: { isReady, publisher } }) =>
    breakable(isReady ? publisher.reason : publisher.state),
  scopes: (row) =>
    row
      .scopeNames(row.target)
      .map((name) => link(row, name, `${row.path}/${encodeURIComponent(name)}`))
      .join(' '),
};

// On a narrow screen a row becomes a block, and each cell says what it is.
const STYLE = `body{font:16px/1.5 sans-serif;margin:1em}
td,th{padding:.2em 1em .2em 0;text-align:left;vertical-align:top}
th{white-space:nowrap}
@media(max-width:75em){tr:first-child{display:none}tr,td{display:block}tr{margin-bottom:1em}
td:empty{display:none}td::before{content:attr(data-is) ": ";color:#666}}`;

export function statusPage(targets: readonly Target[], facts: StatusPageFacts): string {
  const columns = Object.entries(COLUMNS);
  const heads = columns.map(([head]) => `<th>${head}</th>`);
  const rows = targets.map((target) => {
    const row = { ...facts, target, status: target.status(), query: queryOf(target, targets) };
    const cells = columns.map(([head, html]) => `<td data-is="${head}">${html(row)}</td>`);
    return `<tr>${cells.join('')}</tr>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>shm_exporter</title><style>${STYLE}</style></head>
<body><h1>shm_exporter ${escape(facts.version)}</h1>
<table><tr>${heads.join('')}</tr>
${rows.join('\n')}
</table>
<p><a href="/-/metrics">metrics of this process</a> · <a href="/-/targets">service discovery</a> ·
<a href="/-/healthy">health</a> · <a href="/-/ready">readiness</a></p>
</body></html>
`;
}

/** The query that selects a target, with its question mark; empty if none is needed. */
function queryOf(target: Target, targets: readonly Target[]): string | undefined {
  const query = new URLSearchParams(parametersOf(target, targets));
  const routed = route(targets, query);
  if (routed.kind === 'refused' || routed.target !== target) return undefined;
  return query.size > 0 ? `?${query.toString()}` : '';
}

const link = ({ query }: Row, text: string, path: string): string =>
  query === undefined
    ? breakable(text)
    : `<a href="${escape(path + query)}">${breakable(text)}</a>`;

const share = ({ synced, total }: { readonly synced: number; readonly total: number }): string =>
  `${synced}/${total}`;

const escape = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** Text that may break after the dots of an id, and inside a word only after 20 characters. */
const breakable = (text: string): string =>
  text
    .split(/(?<=\.)(?=\S)|(?<=[^\s.]{20})(?=[^\s.])/)
    .map(escape)
    .join('<wbr>');
