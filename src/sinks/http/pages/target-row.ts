// The row of a target on the status page: its condition and its links.
import { nounFor } from '../../../pluralize.js';
import type {
  FormatInfo,
  InternalMetric,
  Scope,
  SyncProgress,
  Target,
  TargetStatus,
  TargetTimes,
} from '../../../model.js';
import {
  ageText,
  agoText,
  countText,
  grouped,
  nameText,
  secondsAgoText,
  sentence,
  timeText,
} from '../../../shown/shown-text.js';
import { breakable, markup } from './html.js';
import type { Html, Severity } from './html.js';

/** The condition of a target in words, and its severity. */
export interface TargetCondition {
  readonly severity: Severity;
  readonly word: string;
  /** Why the condition is not good, or what is left out; otherwise empty. */
  readonly reason: string;
}

export function conditionOf({ isReady, root, progress, publisher }: TargetStatus): TargetCondition {
  const { state, reason, isPartial = false } = publisher;
  if (isReady && state === 'live')
    return { severity: 'good', word: 'ready', reason: isPartial ? reason : '' };
  if (isReady) return { severity: 'warn', word: `ready, ${state}`, reason };
  const isSaid = progress.reason.includes(reason) || state === 'live';
  const waiting = `waiting on ${progress.reason}${isSaid ? '' : `; ${reason}`}`;
  if (root !== '' && state === 'live')
    return { severity: 'warn', word: 'syncing', reason: waiting };
  return { severity: 'bad', word: 'not ready', reason: waiting };
}

const SEVERITIES: readonly Severity[] = ['bad', 'warn', 'good'];

/** The sort order of conditions, the most severe first. */
export const severityRank = ({ severity }: TargetCondition): number => SEVERITIES.indexOf(severity);

/** The age of the newest value, and the source of that time, in words. */
export function newestText({ ageSeconds, by }: NonNullable<TargetTimes['newest']>): {
  readonly ago: string;
  readonly source: string;
} {
  const ago = secondsAgoText(ageSeconds);
  if (by === 'stated') return { ago, source: 'as the publisher states' };
  return { ago: by === 'earlier' ? `over ${ago}` : ago, source: 'last notification' };
}

/**
 * The relative URL of a page, with all parameters that are not empty. All pages are in one folder,
 * so a relative URL also works below the path prefix of a proxy.
 */
export function address(
  path: string,
  query: URLSearchParams,
  further: Readonly<Record<string, string>> = {},
): string {
  const all = new URLSearchParams(query);
  for (const [name, value] of Object.entries(further)) if (value !== '') all.set(name, value);
  return all.size > 0 ? `.${path}?${all.toString()}` : `.${path}`;
}

/** A target with its status at the time of the page. */
export interface ShownTarget {
  /** The id of the row: unique, and the same at each update of the page. */
  readonly id: string;
  readonly target: Target;
  readonly status: TargetStatus;
  readonly condition: TargetCondition;
}

interface TargetRowFacts extends ShownTarget {
  readonly query: URLSearchParams | undefined;
  readonly path: string;
  readonly hasTrees: boolean;
  /** The scopes that can select metrics of the target. */
  readonly scopes: readonly Scope[];
  readonly nowMs: number;
}

const SERIES = 'shm_exporter_target_series';
const FAMILY_SERIES = 'shm_exporter_family_series';
/** A metric that every page of a target has in addition to the internal metrics. */
const TARGET_INFO = { name: 'shm_exporter_target_info', type: 'info' } as const;

export const HEADS = ['state', 'target', 'synced', 'newest value', 'publisher', 'pages'] as const;

/** The row of a target. The reason of its condition gets a second row, since it needs the full width of the table. */
export function targetRow(facts: TargetRowFacts): Html {
  const { id, condition } = facts;
  return markup`<tr id="${id}" class="row-${condition.severity}" role="row">
    <td role="cell">${stateCell(facts)}</td>
    <th scope="row" role="rowheader">${nameCell(facts)}</th>
    <td role="cell" data-is="synced">${syncedCell(facts)}</td>
    <td role="cell" data-is="newest value">${newestCell(facts)}</td>
    <td role="cell" data-is="publisher">${publisherCell(facts)}</td>
    <td role="cell" data-is="pages">${pagesCell(facts)}</td>
  </tr>
  ${condition.reason === '' ? undefined : reasonRow(facts)} `;
}

const reasonRow = ({ id, condition: { severity, reason } }: TargetRowFacts): Html =>
  markup`<tr id="reason-of-${id}" class="row-${severity} reason" role="row">
    <td role="cell" colspan="${HEADS.length}">${breakable(sentence(reason))}</td>
  </tr>`;

function stateCell({ condition, target }: TargetRowFacts): Html {
  const { severity, word } = condition;
  const since = ageText(target.times().sinceSeconds);
  return markup`<span class="state ${severity}">${word}</span>
    <span class="muted whole">for ${since}</span>`;
}

function nameCell({ target, status }: TargetRowFacts): Html {
  const { app, serverKey, root, partition } = status;
  const hint =
    target.instance === '' ? 'no root' : `no root for the hint ${nameText(target.instance)}`;
  const shownRoot = root === '' ? hint : nameText(root);
  return markup`<span class="app">${breakable(nameText(app))}</span>
    <span class="muted">${breakable(shownRoot)}</span>
    <span class="sub">server key <span class="whole">${nameText(serverKey)}</span>, partition ${partition}</span>`;
}

function syncedCell({ status, condition }: TargetRowFacts): Html {
  const { objects, variables } = status.progress;
  if (condition.severity === 'bad') return markup``;
  const bar = status.isReady ? undefined : progressBar(status.progress);
  return markup`${bar}<span class="objects whole">${shareText(objects, 'object')}</span><span class="sub whole">${shareText(variables, 'variable')}</span>`;
}

function progressBar({ objects, variables }: SyncProgress): Html {
  const synced = objects.synced + variables.synced;
  const total = objects.total + variables.total;
  const share = total === 0 ? 0 : Math.floor((100 * synced) / total);
  const most = Math.max(1, total);
  return markup`<span class="bar"><progress max="${most}" value="${synced}" aria-label="synced objects and variables"></progress> ${share} %</span>`;
}

const shareText = ({ synced, total }: SyncProgress['objects'], noun: string): string =>
  synced === total ? countText(total, noun) : `${grouped(synced)} of ${countText(total, noun)}`;

function newestCell({ target, status }: TargetRowFacts): Html {
  const { newest } = target.times();
  if (status.root === '') return markup``;
  if (newest === undefined)
    return markup`<span class="muted">${target.format.notifies ? 'no notification' : 'not stated'}</span>`;
  const { ago, source } = newestText(newest);
  return markup`<span class="whole">${ago}</span><span class="sub whole">${source}</span>`;
}

function publisherCell({ target: { format }, status, nowMs }: TargetRowFacts): Html {
  const { state, heartbeatAgeSeconds: beat } = status.publisher;
  const { process: running } = status;
  const where = running?.isElsewhere === true ? ' (in another PID namespace)' : '';
  const pid =
    running &&
    markup`<span class="sub${where === '' ? ' whole' : ''}">pid <span class="whole">${running.pid}</span>${where}, started
      <time
        class="whole"
        datetime="${iso(running.startedUnixMs)}"
        title="${timeText(running.startedUnixMs)}">${agoText(running.startedUnixMs, nowMs)}</time></span>`;
  const heart = beat === undefined ? 'no heartbeat' : `heartbeat ${ageText(beat)} ago`;
  return markup`<span class="whole">${state}${running && `, ${heart}`}</span>${pid}${certainty(format)}`;
}

/** A note about the guarantees that a foreign format gives for its values; undefined for the native format. */
const certainty = ({ name, certainty: text }: FormatInfo): Html | undefined =>
  name === 'native' ? undefined : markup`<span class="sub">format ${name}: ${text}</span>`;

const iso = (unixMs: number): string => {
  const time = new Date(unixMs);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
};

function pagesCell(facts: TargetRowFacts): Html {
  const { target, query, path, hasTrees, status } = facts;
  if (query === undefined)
    return markup`<span class="muted">No parameters select only this target.</span>`;
  const metrics = target.internal();
  const series = metrics.find(({ name }) => name === SERIES);
  const of = labelOf(target, status);
  const item = (address: string, text: string): Html =>
    markup`<li><a class="whole" href="${address}" aria-label="${text} of ${of}">${text}</a></li>`;
  const answering = facts.scopes.filter((scope) => answers(scope, facts));
  const others = facts.scopes.filter((scope) => !answering.includes(scope));
  const scopes = answering.map(({ name }) =>
    item(address(`${path}/${encodeURIComponent(name)}`, query), nameText(name)),
  );
  return markup`<ul class="list">${item(address(path, query), 'metrics')}${
    hasTrees ? item(address('/tree', query), 'tree') : undefined
  }${scopes}</ul>${
    status.isReady && series !== undefined
      ? seriesText(countText(Number(series.value), 'series', 'series'), target.internalDetails())
      : undefined
  }${others.length === 0 ? undefined : silentScopes(others, facts)}`;
}

/** The number of series; a click lists the largest metrics. */
function seriesText(count: string, metrics: readonly InternalMetric[]): Html {
  const largest = metrics.filter(({ name }) => name === FAMILY_SERIES);
  if (largest.length === 0) return markup`<span class="sub whole">${count}</span>`;
  const items = largest.map(
    ({ labels, value }) =>
      markup`<li>${breakable(nameText(labels?.['family'] ?? ''))} <span class="whole">${grouped(Number(value))}</span></li>`,
  );
  return markup`<details class="sub"><summary class="whole">${count}</summary><ul class="plain">${items}</ul></details>`;
}

/** A name for screen readers: it distinguishes links of different targets. */
const labelOf = ({ instance }: Target, { app, serverKey, root }: TargetStatus): string => {
  const hint = instance === '' ? '' : `, hint ${nameText(instance)}`;
  return `${root === '' ? `${nameText(app)}${hint}` : nameText(root)}, server key ${nameText(serverKey)}`;
};

const shownScope = (name: string): Html => markup`<span class="whole">${nameText(name)}</span>`;

/** Whether a scope selects metrics of the last render. If not, a scrape of the scope gets 404. */
function answers(scope: Scope, { target, status }: TargetRowFacts): boolean {
  const shown = [...(target.lastFamilies ?? []), ...target.internal(), TARGET_INFO];
  return status.isReady && shown.some((facts) => scope.selects(facts));
}

function silentScopes(scopes: readonly Scope[], { target, status }: TargetRowFacts): Html {
  const names = scopes.map(({ name }, i) => markup`${i === 0 ? ' ' : ', '}${shownScope(name)}`);
  const isUnknown = status.isReady && target.lastFamilies === undefined;
  const why = isUnknown
    ? 'available after the first scrape'
    : status.isReady
      ? 'no metrics at present'
      : 'available when the target is ready';
  return markup`<span class="sub">${nounFor(scopes.length, 'scope')}${names}: ${why}</span>`;
}
