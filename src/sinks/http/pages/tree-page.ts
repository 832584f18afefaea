// The tree page: answers its requests, with a search form and the parameters of its address.
import { map, of, take, timeout } from 'rxjs';
import type { Observable } from 'rxjs';
import { limitConcurrency } from '../../../limit-concurrency.js';
import { TREE_CHOICES, TREE_FIELDS } from '../../../model.js';
import type {
  LastSeen,
  Scope,
  Target,
  TreeAnswer,
  TreeChoice,
  TreeField,
  TreePart,
  TreeQuery,
} from '../../../model.js';
import {
  countText,
  grouped,
  nameText,
  searchWords,
  secondsAgoText,
  sentence,
  timeText,
} from '../../../shown/shown-text.js';
import type { Reply, Status } from '../reply.js';
import { hasRouting, parametersOf, queriesOf, route } from '../route.js';
import { breakable, htmlReply, markup, problemPage, tableOf } from './html.js';
import type { Html, HtmlPage, HtmlPart } from './html.js';
import { address, conditionOf, newestText } from './target-row.js';
import type { TargetCondition } from './target-row.js';
import { TREE_HEADS, treeRows } from './tree-rows.js';

export const TREE_PATH = '/tree';

export interface TreeOptions {
  readonly path: string;
  readonly hostPage: { readonly isEnabled: () => boolean };
  readonly scope: (name: string) => Scope | undefined;
  /** Whether the page shows string values that no catalogue row reads. */
  readonly showsUnreadTexts: () => boolean;
  /** The command that dumps the segment of a server key. */
  readonly dumpCommand: (serverKey: string) => string;
  readonly unixMs: () => number;
}

/** The maximum number of links to trees, on the error page for a request that selects no target. */
const MAX_LINKS = 100;
/** The maximum number of rows and characters of a page. */
const MAX_ROWS = 200;
const MAX_CHARACTERS = 262_144;
/** The longest time that a query may run, and the longest time until its answer. */
const QUERY_MS = 1500;
const MAX_WAIT_MS = 10_000;
/** The maximum number of concurrent queries. A query shares the thread of its target with refreshes. */
const MAX_QUERIES = 2;

export type TreeResponder = (
  targets: readonly Target[],
  query: URLSearchParams,
) => Observable<Reply>;

/**
 * Makes the responder. Checks the routing (400 or 404), the scope (404), then the parameters (400).
 * Then replies 503 if there is no tree, or 404 if the object does not exist.
 */
export function treeResponder(options: TreeOptions): TreeResponder {
  const limited = limitConcurrency(MAX_QUERIES, { maxWaitMs: MAX_WAIT_MS });
  return (targets, query) => {
    const routed = route(targets, query);
    if (routed.kind === 'refused') return problem(routed.status, routed.text, treeLinks(targets));
    const { target, scope: name } = routed;
    const scope = name === undefined ? undefined : options.scope(name);
    if (name !== undefined && scope === undefined)
      return problem(404, `no metric scope ${JSON.stringify(name)}`);
    const given = readParameters(query);
    if ('problem' in given) return problem(400, given.problem);
    const { object, field, choice, trail, q } = given;
    const treeQuery: TreeQuery = {
      ...{ object, field, choice, from: trail.at(-1) ?? 0, words: searchWords(q) },
      showsUnreadTexts: options.showsUnreadTexts(),
      ...{ maxRows: MAX_ROWS, maxCharacters: MAX_CHARACTERS, maxMs: QUERY_MS },
    };
    const facts = { ...options, query: selection(query), given, scope };
    const answered = (answer: TreeAnswer): Reply =>
      answer.kind === 'no-object'
        ? htmlReply(404, problemPage(`the tree has no object ${JSON.stringify(object)}`))
        : htmlReply(answer.kind === 'part' ? 200 : 503, treePage(target, answer, facts));
    return target
      .queryTree(treeQuery)
      .pipe(
        limited(of(TOO_BUSY)),
        take(1),
        timeout({ first: MAX_WAIT_MS, with: () => of(TOO_BUSY) }),
        map(answered),
      );
  };
}

const TOO_BUSY: TreeAnswer = {
  kind: 'no-tree',
  reason: 'too many tree queries at once; try again in a moment',
};

const problem = (status: Status, text: string, links?: Html): Observable<Reply> =>
  of(htmlReply(status, problemPage(text, links)));

function treeLinks(targets: readonly Target[]): Html {
  const queryOf = queriesOf(targets, false);
  const links = targets.slice(0, MAX_LINKS).flatMap((target) => {
    const query = queryOf(target);
    if (query === undefined) return [];
    const name = `${target.app} on ${target.serverKeys.join(', ')}`;
    return [markup`<li><a href="${address(TREE_PATH, query)}">${nameText(name)}</a></li>`];
  });
  return markup`<p>Trees of:</p><ul class="list">${links}</ul>`;
}

/** The parameters of a query that select a target and a scope. */
function selection(query: URLSearchParams): URLSearchParams {
  const own = new URLSearchParams();
  for (const name of ['server_key', 'app', 'instance', 'scope']) {
    const value = query.get(name);
    if (value !== null) own.set(name, value);
  }
  return own;
}

/** The parameters of the tree page, except those that select the target. */
interface TreeParameters {
  /** The id of an object, or its path below the root; empty for the whole tree. */
  readonly object: string;
  readonly q: string;
  readonly field: TreeField;
  readonly choice: TreeChoice;
  /** The start positions of the visited parts of the tree. The last one is the start of the current part. */
  readonly trail: readonly number[];
  readonly isLive: boolean;
}

const NAMES = ['object', 'q', 'in', 'show', 'from', 'live'] as const;
/** The number of parts that the link `previous` can go back. */
const MAX_TRAIL = 32;
const MAX_POSITION = 2 ** 32;
const MAX_TEXT = 1024;

/** Reads the parameters. Returns a sentence about the first invalid parameter. */
export function readParameters(
  query: URLSearchParams,
): TreeParameters | { readonly problem: string } {
  const twice = NAMES.find((name) => query.getAll(name).length > 1);
  if (twice !== undefined) return { problem: `parameter ${twice} is given more than once` };
  const [object = '', q = '', wantedField = 'any', wantedChoice = 'all', from = '0', live = ''] =
    NAMES.map((name) => query.get(name) ?? undefined);
  const field = TREE_FIELDS.find((each) => each === (wantedField || 'any'));
  if (field === undefined) return invalid('in', wantedField, TREE_FIELDS.join(', '));
  const choice = TREE_CHOICES.find((each) => each === (wantedChoice || 'all'));
  if (choice === undefined) return invalid('show', wantedChoice, TREE_CHOICES.join(', '));
  if (Math.max(object.length, q.length) > MAX_TEXT)
    return { problem: `parameters object and q have at most ${MAX_TEXT} characters` };
  const trail = (from || '0').split('.').map(Number);
  const isTrail = /^\d{1,10}(\.\d{1,10})*$/.test(from || '0') && Math.max(...trail) <= MAX_POSITION;
  if (!isTrail) return invalid('from', from, 'a position, which is at least 0');
  return { object, q, field, choice, trail: trail.slice(-MAX_TRAIL), isLive: live === '1' };
}

const invalid = (name: string, found: string, allowed: string) => ({
  problem: `parameter "${name}": found ${JSON.stringify(found.slice(0, 80))}, allowed: ${allowed}`,
});

/** The parameters of an address, without parameters that have their default value. */
export const writeParameters = ({
  object,
  q,
  field,
  choice,
  trail,
  isLive,
}: TreeParameters): Readonly<Record<string, string>> => ({
  object,
  q,
  in: field === 'any' ? '' : field,
  show: choice === 'all' ? '' : choice,
  from: trail.length === 1 && trail[0] === 0 ? '' : trail.slice(-MAX_TRAIL).join('.'),
  live: isLive ? '1' : '',
});

const FIELDS: Readonly<Record<TreeField, string>> = {
  any: 'anything',
  object: 'object id',
  class: 'class',
  variable: 'variable name',
  metric: 'metric name',
  value: 'value',
};

const CHOICES: Readonly<Record<TreeChoice, string>> = {
  all: 'everything',
  metrics: 'what becomes metrics',
  'left-out': 'what becomes no metric',
  unsynced: 'what is not synced',
};

/** The search form. It works without JavaScript. @param query selects the target */
function treeForm(query: URLSearchParams, given: TreeParameters): Html {
  const { object, q, field, choice, isLive } = given;
  const kept = [
    ...query,
    ...(object === '' ? [] : [['object', object]]),
    ...(isLive ? [['live', '1']] : []),
  ];
  return markup`<form role="search" action=".${TREE_PATH}" method="get">
    ${kept.map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`)}
    <div class="wide"><label for="q">Search for words</label>
      <input id="q" name="q" type="search" value="${q}" maxlength="1024" autocomplete="off" spellcheck="false"></div>
    <div><label for="in">in</label>
      <select id="in" name="in">${options(FIELDS, field)}</select></div>
    <div><label for="show">and show</label>
      <select id="show" name="show">${options(CHOICES, choice)}</select></div>
    <div><button>Search</button></div>
  </form>`;
}

const options = (words: Readonly<Record<string, string>>, chosen: string): HtmlPart =>
  Object.entries(words).map(([value, text]) => {
    const selected = value === chosen ? markup` selected` : undefined;
    return markup`<option value="${value}"${selected}>${text}</option>`;
  });

interface TreePageFacts extends Pick<TreeOptions, 'path' | 'hostPage' | 'dumpCommand' | 'unixMs'> {
  readonly query: URLSearchParams;
  readonly given: TreeParameters;
  readonly scope: Scope | undefined;
}

const LIVE_MS = 5000;

/** The parameters that show a whole tree from its start. */
const ALL: TreeParameters = {
  ...{ object: '', q: '', field: 'any', choice: 'all' },
  ...{ trail: [0], isLive: false },
};

function treePage(
  target: Target,
  answer: Exclude<TreeAnswer, { kind: 'no-object' }>,
  facts: TreePageFacts,
): HtmlPage {
  const { query, given } = facts;
  const status = target.status();
  const condition = conditionOf(status);
  const root = answer.kind === 'part' ? answer.root : status.root;
  const name = root === '' ? target.app : root;
  // The host page answers requests that select no target.
  const selects = hasRouting(query) || !facts.hostPage.isEnabled();
  const metrics = new URLSearchParams(selects ? query : parametersOf([target], true)(target));
  // The scope may select no metrics.
  metrics.delete('scope');
  return {
    title: `${sentence(name)} · tree · shm_exporter`,
    severity: condition.severity,
    heading: markup`<h1>
        <a href="./">shm_exporter</a> <small>tree of ${breakable(nameText(name))}</small>
      </h1>
      <nav aria-label="Pages">
        <ul>
          <li><a href="./">all targets</a></li>
          <li><a href="${address(facts.path, metrics)}">metrics</a></li>
        </ul>
      </nav>`,
    skipTo: { id: 'tree', name: 'the tree' },
    main: markup`${
      condition.severity === 'good'
        ? undefined
        : markup`<p class="summary ${condition.severity}">
            ${condition.word}: ${breakable(sentence(condition.reason))}
          </p>`
    }
    ${
      answer.kind === 'part'
        ? [
            answer.last && lastSeen(answer.last),
            treeForm(query, given),
            partOf(answer, facts),
            freshness(target, answer, facts.unixMs()),
          ]
        : absence(answer.reason, condition, lastValues(target, facts))
    }`,
    isEcho: true,
    refreshMs: given.isLive ? LIVE_MS : undefined,
  };
}

/** The note that there is no tree. Omits the reason if the condition already states it. */
function absence(reason: string, condition: TargetCondition, more: Html | undefined): Html {
  const isSaid = condition.reason.includes(reason);
  return markup`<p id="tree" class="note">There is no tree${
    isSaid ? ' now' : markup`: ${breakable(sentence(reason))}`
  }.${more}</p>`;
}

/** A command that shows the last values of a publisher, if its segment still exists but is not served. */
function lastValues(target: Target, { dumpCommand }: TreePageFacts): Html | undefined {
  const { publisher, serverKey } = target.status();
  const isLeft = publisher.state === 'dead' || publisher.state === 'stalled';
  if (!isLeft || target.format.name !== 'native') return undefined;
  return markup` On the host, <code>${dumpCommand(serverKey)}</code> shows the last values.`;
}

/** The note that the values are the last ones, and their age. */
const lastSeen = (last: LastSeen): Html =>
  markup`<p id="last" class="summary warn">These are the last values of a publisher that is not served; ${ageOf(last)}. Scrapes get 503.</p>`;

function ageOf({ ageSeconds, by }: LastSeen): string {
  if (ageSeconds === undefined) return 'it states no time';
  const ago = secondsAgoText(ageSeconds);
  return by === 'stated' ? `it states that they are of ${ago}` : `its last heartbeat was ${ago}`;
}

/** The time of the query and the age of the newest value. */
const freshness = (target: Target, { last }: TreePart, nowMs: number): Html =>
  last !== undefined
    ? markup`<p class="muted">Read from its segment at <span class="whole">${timeText(nowMs)}</span>. The last column names the metrics that show these values while the exporter serves the publisher.</p>`
    : markup`<p class="muted">Values as read at <span class="whole">${timeText(nowMs)}</span>; ${newestOf(target)}. Publishers do not state when a single value changed.</p>`;

function newestOf(target: Target): string {
  const { newest } = target.times();
  if (newest !== undefined) {
    const { ago, source } = newestText(newest);
    return `newest value ${ago} (${source})`;
  }
  return target.format.notifies
    ? 'the publisher has not notified'
    : `format ${target.format.name} has no notifications`;
}

function partOf(answer: TreePart, facts: TreePageFacts): Html {
  const { root, rows } = answer;
  const { query, given, scope } = facts;
  const below = (object: string): string =>
    address(TREE_PATH, query, writeParameters({ ...ALL, isLive: given.isLive, object }));
  const object = given.object === '' ? undefined : markup` of ${breakable(nameText(given.object))}`;
  const table = tableOf({
    ...{ id: 'tree', name: 'Tree', className: 'tree', heads: TREE_HEADS },
    caption: markup`Objects and variables${object}`,
    rows: treeRows(rows, { root, scope, below }),
  });
  return markup`${ancestors(answer, facts)} ${pager(answer, facts)}
  ${rows.length === 0 ? markup`<p id="tree" class="note">${nothing(answer, given)}</p>` : table}
  ${rows.length > 20 ? pager(answer, facts, ', below it') : undefined}`;
}

const isSearch = ({ q, choice }: TreeParameters): boolean => q.trim() !== '' || choice !== 'all';

const nothing = ({ next }: TreePart, given: TreeParameters): string =>
  next !== undefined
    ? 'Nothing found in this part of the tree.'
    : isSearch(given)
      ? 'Nothing found from here to the end.'
      : 'There is nothing from here on.';

function ancestors({ above }: TreePart, { query, given }: TreePageFacts): Html | undefined {
  if (given.object === '') return undefined;
  const link = (object: string, text: string | readonly Html[]): Html =>
    markup`<li>
      <a href="${address(TREE_PATH, query, writeParameters({ ...given, object, trail: [0] }))}">${text}</a>
    </li>`;
  return markup`<nav aria-label="Objects above" class="pager">
    <span class="muted">Above:</span>
    <ul class="list">
      ${link('', 'whole tree')}${above.map((each) => link(each, breakable(nameText(each))))}
    </ul>
  </nav>`;
}

function pager(answer: TreePart, { query, given }: TreePageFacts, where = ''): Html {
  const { next, isLate, tracked, rows } = answer;
  const { trail } = given;
  const from = trail.at(-1) ?? 0;
  const to = (parameters: Partial<TreeParameters>): string =>
    address(TREE_PATH, query, writeParameters({ ...given, ...parameters }));
  const counts =
    tracked &&
    ` The target tracks ${countText(tracked.objects, 'object')} and ${countText(tracked.variables, 'variable')}.`;
  const count = rows.filter((row) => row.kind === 'variable' || row.isMatch).length;
  const found = `${grouped(count)} ${isSearch(given) ? 'found' : 'shown'}`;
  const place = from === 0 ? 'from the beginning' : `from position ${grouped(from)}`;
  const end = next === undefined ? 'to the end' : `to position ${grouped(next)}`;
  const link = (text: string, parameters: Partial<TreeParameters>, rel?: string): Html =>
    markup`<a href="${to(parameters)}"${rel === undefined ? rel : markup` rel="${rel}"`}>${text}</a>`;
  return markup`<nav class="pager" aria-label="Parts of the tree${where}">
    <span>${found} ${place} ${end}.${counts}${
      isLate ? ' The search paused, so that it does not delay scrapes.' : undefined
    }</span>
    ${from > 0 ? link('first', { trail: [0] }) : undefined}
    ${trail.length > 1 ? link('previous', { trail: trail.slice(0, -1) }, 'prev') : undefined}
    ${
      next === undefined
        ? undefined
        : link(
            isSearch(given) ? 'continue the search' : 'next',
            { trail: [...trail, next] },
            'next',
          )
    }
    ${isSearch(given) ? link('clear the search', { ...ALL, object: given.object }) : undefined}
    ${
      given.isLive
        ? link('stop updates', { isLive: false })
        : link(`update every ${LIVE_MS / 1000} s`, { isLive: true })
    }
  </nav>`;
}
