// Answers requests for the tree page: routes a request, queries the target, and makes the page.
import { map, of, take, timeout } from 'rxjs';
import type { Observable } from 'rxjs';
import { limitConcurrency } from '../../../limit-concurrency.js';
import type { Scope, Target, TreeAnswer, TreeQuery } from '../../../model.js';
import type { Reply, Status } from '../reply.js';
import { route } from '../route.js';
import { markup, htmlReply, problemPage } from './html.js';
import type { Html } from './html.js';
import { readParameters, treePage } from './tree-page.js';
import { nameText, searchWords } from '../../../shown/shown-text.js';
import { address, queryOf } from './target-row.js';

export interface TreeOptions {
  /** The base scrape path. */
  readonly path: string;
  readonly treePath: string;
  readonly scope: (name: string) => Scope | undefined;
  /** Whether the page shows string values that no catalogue row reads. */
  readonly showsUnreadTexts: () => boolean;
  /** The command that dumps the segment of a server key. */
  readonly dumpCommand: (serverKey: string) => string;
  /** Unix time in milliseconds. */
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
    if (routed.kind === 'refused')
      return problem(routed.status, routed.text, treeLinks(targets, options.treePath));
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
    const own = selection(query);
    const { path, treePath, unixMs, dumpCommand } = options;
    const answered = (answer: TreeAnswer): Reply => {
      if (answer.kind === 'no-object')
        return htmlReply(404, problemPage(`the tree has no object ${JSON.stringify(object)}`));
      return htmlReply(
        answer.kind === 'part' ? 200 : 503,
        treePage(target, answer, {
          ...{ path, treePath, query: own, given, scope, dumpCommand },
          nowMs: unixMs(),
        }),
      );
    };
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

/** Links to the trees of the first targets. */
function treeLinks(targets: readonly Target[], treePath: string): Html {
  const links = targets.slice(0, MAX_LINKS).flatMap((target) => {
    const query = queryOf(target, targets);
    if (query === undefined) return [];
    const name = `${target.app} on ${target.serverKeys.join(', ')}`;
    return [markup`<li><a href="${address(treePath, query)}">${nameText(name)}</a></li>`];
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
