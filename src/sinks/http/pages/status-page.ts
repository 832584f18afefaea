// The status page at `/`: the process and all targets, the most severe conditions first.
import type { Scope, Target } from '../../../model.js';
import {
  ageText,
  agoText,
  countText,
  grouped,
  sentence,
  timeText,
} from '../../../shown/shown-text.js';
import { markup, tableOf } from './html.js';
import type { Html, Severity, HtmlPage } from './html.js';
import { HEADS, conditionOf, queryOf, targetRow, severityRank } from './target-row.js';
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

/** Makes the status page. @param from the number of targets to skip, in the order of the page */
export function statusPage(
  targets: readonly Target[],
  options: StatusPageOptions,
  from = 0,
): HtmlPage {
  const ranked = targets.map((target, index): ShownTarget => {
    const status = target.status();
    return { id: `target-${index}`, target, status, condition: conditionOf(status) };
  });
  const sorted = ranked.toSorted((a, b) => severityRank(a.condition) - severityRank(b.condition));
  const unready = ranked.filter(({ status }) => !status.isReady).length;
  const { version } = options.service;
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
      ${targetTable(shown, targets, options)}
      ${pager(from, targets.length)}`,
    footer: markup`<p>
      Updates every ${refreshMs / 1000} seconds while the page is visible. The time of the last notification is
      accurate to two seconds.
    </p>`,
    refreshMs,
  };
}

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

function targetTable(
  rows: readonly ShownTarget[],
  targets: readonly Target[],
  { path, hasTrees, scopesFor, nowMs }: StatusPageOptions,
): Html {
  return tableOf({
    ...{ id: 'targets', name: 'Targets', className: 'targets', heads: HEADS },
    caption: 'Targets',
    rows: rows.map((row) => {
      const { target } = row;
      const query = queryOf(target, targets);
      return targetRow({ ...row, path, hasTrees, nowMs, query, scopes: scopesFor(target) });
    }),
  });
}

function pager(from: number, total: number): Html | undefined {
  if (total <= MAX_ROWS && from === 0) return undefined;
  const last = Math.min(total, from + MAX_ROWS);
  const before = Math.max(0, from - MAX_ROWS);
  return markup`<nav class="pager" aria-label="Further targets">
    <span>${grouped(from + 1)} to ${grouped(last)} of ${grouped(total)}</span>${
      from > 0 ? markup`<a rel="prev" href="./?from=${before}">previous</a>` : undefined
    }${last < total ? markup`<a rel="next" href="./?from=${last}">next</a>` : undefined}
  </nav>`;
}
