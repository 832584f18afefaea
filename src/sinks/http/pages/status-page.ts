// The status page at `/`: the process and all targets, the most severe conditions first.
import type { Scope, Target } from '../../../model.js';
import {
  ageText,
  agoText,
  countText,
  grouped,
  nameText,
  searchWords,
  sentence,
  timeText,
} from '../../../shown/shown-text.js';
import { queriesOf } from '../route.js';
import { breakable, markup, tableOf } from './html.js';
import type { Html, Severity, HtmlPage } from './html.js';
import { HEADS, address, conditionOf, severityRank, targetRow } from './target-row.js';
import type { ShownTarget } from './target-row.js';

export interface ProcessInfo {
  readonly version: string;
  /** The commit of this build; empty if unknown. */
  readonly revision: string;
  readonly node: string;
  /** The start time of the process. All times in this file are Unix milliseconds. */
  readonly startedMs: number;
  /** The license; undefined before the first check. */
  readonly license: LicenseInfo | undefined;
  readonly configuration: ConfigurationInfo;
}

export interface LicenseInfo {
  readonly state: string;
  /** `good` if valid, `warn` in the grace period, `bad` if the exporter would refuse to start. */
  readonly severity: Severity;
  readonly expiresMs: number;
  /** The warning text; empty if there is no warning. */
  readonly warning: string;
}

interface ConfigurationInfo {
  readonly acceptedMs: number;
  /** The time of the last refused reload; undefined if no reload was refused after `acceptedMs`. */
  readonly refusedMs: number | undefined;
}

const SHORT_REVISION = 12;

function processInfo(options: ProcessInfo, nowMs: number): Html {
  const { version, revision, node, startedMs, license, configuration } = options;
  const commit =
    revision === ''
      ? 'unknown commit'
      : markup`commit <span class="whole">${revision.slice(0, SHORT_REVISION)}</span>`;
  const uptime = markup`${ageText((nowMs - startedMs) / 1000)}<span class="sub whole">since ${timeText(startedMs)}</span>`;
  const build = markup`${version}<span class="sub">${commit}, Node.js ${node}</span>`;
  return markup`<dl class="facts" id="process">
    ${fact('License', licenseFact(license, nowMs))}
    ${fact('Configuration', configurationFact(configuration, nowMs))}
    ${fact('Uptime', uptime)}
    ${fact('Version', build)}
  </dl>`;
}

const fact = (name: string, value: Html): Html =>
  markup`<div><dt>${name}</dt><dd>${value}</dd></div>`;

function licenseFact(license: LicenseInfo | undefined, nowMs: number): Html {
  if (license === undefined) return markup`<span class="muted">not checked yet</span>`;
  const { state, severity, expiresMs, warning } = license;
  const left = (expiresMs - nowMs) / 1000;
  const when = left >= 0 ? `expires in ${ageText(left)}` : `expired ${ageText(-left)} ago`;
  const remark = warning === '' ? undefined : markup`<span class="sub">${sentence(warning)}</span>`;
  return markup`<span class="state ${severity}">${state}</span> <span class="whole">${when}</span><span class="sub whole">${timeText(expiresMs)}</span>${remark}`;
}

function configurationFact({ acceptedMs, refusedMs }: ConfigurationInfo, nowMs: number): Html {
  const at = markup`<span class="sub whole">${timeText(acceptedMs)}</span>`;
  const taken = agoText(acceptedMs, nowMs);
  if (refusedMs === undefined)
    return markup`<span class="state good">accepted</span> <span class="whole">${taken}</span>${at}`;
  return markup`<span class="state bad">last reload refused</span>
    <span class="whole">${agoText(refusedMs, nowMs)}</span><span class="sub">The log has the reasons.
      The configuration in use was accepted ${taken}</span>${at}`;
}

export interface StatusPageOptions {
  readonly path: string;
  /** Whether requests without parameters get the metrics of all targets. */
  readonly hasHostPage: boolean;
  readonly hasTrees: boolean;
  readonly service: ProcessInfo;
  /** Returns the scopes that may select metrics of a target. */
  readonly scopesFor: (target: Target) => readonly Scope[];
  readonly nowMs: number;
}

/** The maximum number of rows of a page. */
export const MAX_ROWS = 200;
/** The period of updates. A page with many rows is large, so it is updated less often. */
const REFRESH_MS = 2000;
const LARGE_REFRESH_MS = 10_000;
const LARGE_ROWS = 50;

/** A page with more targets groups them by application, and has a filter. */
const MANY_TARGETS = 10;
const MAX_FILTER = 1024;

/** Which targets a page shows. */
export interface StatusQuery {
  /** The number of targets to skip, in the order of the page. */
  readonly from: number;
  /** Words that each shown target has, in any of its texts. */
  readonly filter: string;
}

export function readStatusQuery(query: URLSearchParams): StatusQuery {
  const from = Number(query.get('from') ?? 0);
  const filter = (query.get('q') ?? '').slice(0, MAX_FILTER);
  return { from: Number.isSafeInteger(from) && from > 0 ? from : 0, filter };
}

/** Makes the status page. */
export function statusPage(
  targets: readonly Target[],
  options: StatusPageOptions,
  { from: wanted, filter }: StatusQuery = { from: 0, filter: '' },
): HtmlPage {
  const ranked = targets.map((target, index): ShownTarget => {
    const status = target.status();
    return { id: `target-${index}`, target, status, condition: conditionOf(status) };
  });
  const words = searchWords(filter);
  const found = words.length === 0 ? ranked : ranked.filter((each) => hasWords(each, words));
  const isGrouped = targets.length > MANY_TARGETS;
  const groups = isGrouped ? groupsOf(found) : [found];
  const sorted = groups.flatMap((group) =>
    group.toSorted((a, b) => severityRank(a.condition) - severityRank(b.condition)),
  );
  const unready = ranked.filter(({ status }) => !status.isReady).length;
  const { version } = options.service;
  const from = wanted < sorted.length ? wanted : 0;
  const shown = sorted.slice(from, from + MAX_ROWS);
  const refreshMs = shown.length > LARGE_ROWS ? LARGE_REFRESH_MS : REFRESH_MS;
  const summary = summaryOf(ranked, unready);
  return {
    title: `${unready === 0 ? '' : `${unready} not ready · `}shm_exporter`,
    severity: summary.severity,
    heading: markup`<h1>shm_exporter <small>${version}</small></h1>
      <nav aria-label="Pages">
        <ul>
          <li><a href="./-/metrics">metrics of this process</a></li>
          <li><a href="./-/targets">service discovery</a></li>
          <li><a href="./-/healthy">health</a></li>
          <li><a href="./-/ready">readiness</a>${unready === 0 ? undefined : markup` <span class="muted">(503)</span>`}</li>
        </ul>
      </nav>`,
    skipTo: { id: 'targets', name: 'the targets' },
    main: markup`<p id="summary" class="summary ${summary.severity}" role="status">${summary.text}</p>
      ${processInfo(options.service, options.nowMs)}
      ${isGrouped ? filterForm(filter) : undefined}
      ${targetTable(shown, targets, options, isGrouped ? groups : [])}
      ${pager(from, sorted.length, filter)}`,
    footer: markup`<p>
      Updates every ${refreshMs / 1000} seconds while the page is visible. The time of the last notification is
      accurate to two seconds.
    </p>`,
    refreshMs,
    isEcho: filter !== '',
  };
}

/** Whether each word occurs in the texts of a target, ignoring case. */
function hasWords({ target, status, condition }: ShownTarget, words: readonly string[]): boolean {
  const { app, serverKeys, instance, lastRoot } = target;
  const { word, reason } = condition;
  const texts = [app, ...serverKeys, instance, lastRoot?.id, status.publisher.state, word, reason];
  const text = texts.join('\n').toLowerCase();
  return words.every((each) => text.includes(each));
}

/** Targets by application. An application with a more severe condition comes first, then the order is by name. */
function groupsOf(targets: readonly ShownTarget[]): readonly (readonly ShownTarget[])[] {
  const groups = new Map<string, ShownTarget[]>();
  for (const each of targets) {
    const group = groups.get(each.target.app) ?? [];
    group.push(each);
    groups.set(each.target.app, group);
  }
  const ranks = new Map(
    [...groups].map(([app, group]) => [
      app,
      Math.min(...group.map(({ condition }) => severityRank(condition))),
    ]),
  );
  const rankOf = (app: string): number => ranks.get(app) ?? 0;
  return [...groups]
    .sort(([a], [b]) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
    .map(([, group]) => group);
}

/** The form that filters targets. It works without JavaScript. */
const filterForm = (filter: string): Html =>
  markup`<form role="search" action="./" method="get">
    <div class="wide"><label for="q">Show targets with these words</label>
      <input id="q" name="q" type="search" value="${filter}" maxlength="${MAX_FILTER}" autocomplete="off" spellcheck="false"></div>
    <div><button>Filter</button></div>
    ${filter === '' ? undefined : markup`<div><a href="./">all targets</a></div>`}
  </form>`;

function summaryOf(
  ranked: readonly ShownTarget[],
  unready: number,
): { readonly severity: Severity; readonly text: string } {
  const targets = countText(ranked.length, 'target');
  const countOf = (wanted: Severity): number =>
    ranked.filter(({ condition: { severity } }) => severity === wanted).length;
  const stalled = countOf('warn');
  if (unready > 0)
    return {
      severity: countOf('bad') > 0 ? 'bad' : 'warn',
      text: `${grouped(unready)} of ${targets} not ready`,
    };
  if (stalled > 0)
    return { severity: 'warn', text: `All ready; ${grouped(stalled)} of ${targets} stalled` };
  const text = ranked.length === 1 ? 'The target is ready' : `All ${targets} are ready`;
  return { severity: 'good', text };
}

/** @param groups all targets by application; each group has a heading. Empty for none */
function targetTable(
  rows: readonly ShownTarget[],
  targets: readonly Target[],
  { path, hasHostPage, hasTrees, scopesFor, nowMs }: StatusPageOptions,
  groups: readonly (readonly ShownTarget[])[],
): Html {
  if (rows.length === 0 && targets.length > 0)
    return markup`<p id="targets" class="note">No target has all of these words.</p>`;
  const queryOf = queriesOf(targets, hasHostPage);
  const headings = new Map(groups.map((group) => [group[0]?.target.app, groupRow(group)]));
  return tableOf({
    ...{ id: 'targets', name: 'Targets', className: 'targets', heads: HEADS },
    caption: 'Targets',
    rows: rows.map((row, index) => {
      const { target } = row;
      const query = queryOf(target);
      const isFirst = rows[index - 1]?.target.app !== target.app;
      return markup`${isFirst ? headings.get(target.app) : undefined}${targetRow({
        ...{ ...row, path, hasTrees, nowMs, query },
        scopes: scopesFor(target),
      })}`;
    }),
  });
}

/** The heading of the targets of an application. */
function groupRow(group: readonly ShownTarget[]): Html {
  const app = group[0]?.target.app ?? '';
  const unready = group.filter(({ status }) => !status.isReady).length;
  const targets = countText(group.length, 'target');
  const counts = unready === 0 ? targets : `${grouped(unready)} of ${targets} not ready`;
  return markup`<tr id="app-${app}" class="object" role="row">
    <th scope="rowgroup" role="rowheader" colspan="${HEADS.length}">${breakable(nameText(app))}
      <span class="sub">${counts}</span></th>
  </tr> `;
}

function pager(from: number, total: number, filter: string): Html | undefined {
  if (total <= MAX_ROWS && from === 0) return undefined;
  const last = Math.min(total, from + MAX_ROWS);
  const before = Math.max(0, from - MAX_ROWS);
  const query = new URLSearchParams(filter === '' ? {} : { q: filter });
  const at = (position: number): string => address('/', query, { from: String(position) });
  return markup`<nav class="pager" aria-label="Further targets">
    <span>${grouped(from + 1)} to ${grouped(last)} of ${grouped(total)}</span>${
      from > 0 ? markup`<a rel="prev" href="${at(before)}">previous</a>` : undefined
    }${last < total ? markup`<a rel="next" href="${at(last)}">next</a>` : undefined}
  </nav>`;
}
