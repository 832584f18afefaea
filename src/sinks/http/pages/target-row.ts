// One target of the status page: a row of its table.
import { nounFor } from '../../../counted.js';
import type { ReadFormat, Scope, SyncProgress, Target, TargetStatus } from '../../../model.js';
import { ageText, agoText, countText, grouped, timeText } from '../../../shown/ages.js';
import type { Condition } from './condition.js';
import { markup } from './html.js';
import type { Html, Part } from './html.js';
import { NEWEST_BY } from './newest-by.js';
import { breakable } from './breakable.js';
import { nameText, sentence } from '../../../shown/shown-text.js';
import { address } from './target-links.js';

export interface RowFacts {
  /** Differs from that of other targets, and stays. */
  readonly id: string;
  readonly target: Target;
  readonly status: TargetStatus;
  readonly condition: Condition;
  /** The query that selects the target; undefined if none can. */
  readonly query: URLSearchParams | undefined;
  /** Base scrape path. */
  readonly path: string;
  /** Path of its tree; undefined if that is off. */
  readonly treePath: string | undefined;
  /** The scopes that may select metrics of it. */
  readonly scopes: readonly Scope[];
  readonly nowMs: number;
}

const SERIES = 'shm_exporter_target_series';
/** On every page of a target, beside its internal metrics. */
const TARGET_INFO = { name: 'shm_exporter_target_info', type: 'info' } as const;

export const HEADS = ['state', 'target', 'synced', 'newest value', 'publisher', 'pages'] as const;

export function targetRow(facts: RowFacts): Html {
  const { id, condition } = facts;
  return markup`<tr id="${id}" class="row-${condition.mood}" role="row">
    <td role="cell">${stateCell(facts)}</td>
    <th scope="row" role="rowheader">${nameCell(facts)}</th>
    <td role="cell" data-is="synced">${syncedCell(facts)}</td>
    <td role="cell" data-is="newest value">${newestCell(facts)}</td>
    <td role="cell" data-is="publisher">${publisherCell(facts)}</td>
    <td role="cell" data-is="pages">${pagesCell(facts)}</td>
  </tr> `;
}

function stateCell({ condition, target, nowMs }: RowFacts): Html {
  const { mood, word, reason } = condition;
  const since = ageText(Math.max(0, nowMs - target.times().since) / 1000);
  return markup`<span class="state ${mood}">${word}</span>
    <span class="muted whole">for ${since}</span>${
      reason === ''
        ? undefined
        : markup`<span class="reason sub">${breakable(sentence(reason))}</span>`
    }`;
}

function nameCell({ target, status }: RowFacts): Html {
  const { app, serverKey, root, partition } = status;
  const hint = target.instance === '' ? 'no root' : `no root, hint ${nameText(target.instance)}`;
  const shownRoot = root === '' ? hint : nameText(root);
  return markup`<span class="app">${breakable(nameText(app))}</span>
    <span class="sub">${breakable(shownRoot)}</span>
    <span class="sub">server key <span class="whole">${nameText(serverKey)}</span>, partition ${partition}</span>`;
}

function syncedCell({ status, condition }: RowFacts): Html {
  const { objects, variables } = status.progress;
  if (!condition.isSyncing && !status.isReady) return markup``;
  const bar = status.isReady ? undefined : progressBar(status.progress);
  return markup`${bar}<span class="objects">${shareText(objects, 'object')}</span><span class="sub">${shareText(variables, 'variable')}</span>`;
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

function newestCell({ target, status, nowMs }: RowFacts): Html {
  const { newest } = target.times();
  if (status.root === '') return markup``;
  if (newest === undefined) return markup`<span class="muted">no notification seen</span>`;
  const { unixMs, by } = newest;
  return markup`<span class="whole">${agoText(unixMs, nowMs)}</span><span class="sub">${NEWEST_BY[by]}</span>`;
}

function publisherCell({ target: { reads }, status, nowMs }: RowFacts): Html {
  const { state, heartbeatAgeSeconds: beat } = status.publisher;
  const { process: owner } = status;
  const where = owner?.isElsewhere === true ? ' (not of this PID namespace)' : '';
  const pid =
    owner &&
    markup`<span class="sub">pid <span class="whole">${owner.pid}</span>${where}, started
      <time
        class="whole"
        datetime="${iso(owner.startedUnixMs)}"
        title="${timeText(owner.startedUnixMs)}">${agoText(owner.startedUnixMs, nowMs)}</time></span>`;
  const heart = beat === undefined ? 'no heartbeat' : `heartbeat ${ageText(beat)} ago`;
  return markup`${state}${pid}${owner && markup`<span class="sub whole">${heart}</span>`}${certainty(reads)}`;
}

/** What of the values is proven, where that is less than in our own segments. */
const certainty = ({ name, certainty: text }: ReadFormat): Html | undefined =>
  name === 'native' ? undefined : markup`<span class="sub">format ${name}: ${text}</span>`;

const iso = (unixMs: number): string => {
  const time = new Date(unixMs);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
};

function pagesCell(facts: RowFacts): Html {
  const { target, query, path, treePath, status } = facts;
  if (query === undefined)
    return markup`<span class="muted">No parameters tell it from another target.</span>`;
  const series = target.internal().find(({ name }) => name === SERIES);
  const item = (address: string, text: Part): Html =>
    markup`<li><a href="${address}">${text}</a></li>`;
  const answering = facts.scopes.filter((scope) => answers(scope, facts));
  const others = facts.scopes.filter((scope) => !answering.includes(scope));
  const scopes = answering.map(({ name }) =>
    item(address(`${path}/${encodeURIComponent(name)}`, query), shownScope(name)),
  );
  return markup`<ul class="list">${item(address(path, query), 'metrics')}${
    treePath && item(address(treePath, query), 'tree')
  }${scopes}</ul>${
    status.isReady && series !== undefined
      ? markup`<span class="sub">${countText(Number(series.value), 'series', 'series')}</span>`
      : undefined
  }${others.length === 0 ? undefined : silentScopes(others, facts)}`;
}

const shownScope = (name: string): Html => markup`<span class="whole">${nameText(name)}</span>`;

/** A scope answers with 404 unless it selects something that the target shows; this is known of its last text. */
function answers(scope: Scope, { target, status }: RowFacts): boolean {
  const shown = [...(target.lastFamilies ?? []), ...target.internal(), TARGET_INFO];
  return status.isReady && shown.some((facts) => scope.selects(facts));
}

/** Scopes without a page now. */
function silentScopes(scopes: readonly Scope[], { target, status }: RowFacts): Html {
  const names = scopes.map(({ name }, i) => markup`${i === 0 ? ' ' : ', '}${shownScope(name)}`);
  const isUnknown = status.isReady && target.lastFamilies === undefined;
  const why = isUnknown
    ? 'after the next scrape'
    : status.isReady
      ? 'without metrics now'
      : 'once ready';
  return markup`<span class="sub">${nounFor(scopes.length, 'scope')}${names}: ${why}</span>`;
}
