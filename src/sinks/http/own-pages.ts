// The exporter's own pages: for people, for probes and for service discovery.
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { defer, map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { pluralize } from '../../pluralize.js';
import type { Scope, Target } from '../../model.js';
import type { SelfMetrics } from '../self-metrics.js';
import { identitiesOf, parametersOf } from '../sink.js';
import { pageReply } from './pages/page.js';
import { statusPage } from './pages/status-page.js';
import type { ServiceFacts } from './pages/status-page.js';
import type { TreeResponder } from './pages/tree.js';
import { compressiblePage, plainPage, textReply } from './reply.js';
import type { Reply } from './reply.js';

/** A name or an IPv4 address, or an IPv6 one in brackets, and a port or none. */
const AUTHORITY = /^(?:[\w-][\w.-]{0,252}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * One group for each target, ready or not, as JSON. The labels stay while the root is lost.
 * @param authority host and port of this listener, as Prometheus reaches it
 * @param path base scrape path
 * @param isSecure whether it is reached by HTTPS
 */
function discoveryDocument(
  targets: readonly Target[],
  authority: string,
  path: string,
  isSecure: boolean,
): string {
  const groups = [...identitiesOf(targets)].map(([target, identity]) => {
    const { lastRoot } = target;
    const parameters = Object.entries(parametersOf(target, targets));
    return {
      targets: [authority],
      labels: {
        ...(isSecure && { __scheme__: 'https' }),
        __metrics_path__: path,
        ...Object.fromEntries(parameters.map(([name, value]) => [`__param_${name}`, value])),
        ...identity,
        ...(lastRoot && { root: lastRoot.id }),
      },
    };
  });
  return `${JSON.stringify(groups)}\n`;
}

/** The Host header if it is valid, else the local address of the connection. */
function authorityOf({ headers, socket }: IncomingMessage): string {
  const { host = '' } = headers;
  if (AUTHORITY.test(host)) return host;
  return `${socket.localAddress ?? ''}:${socket.localPort ?? ''}`;
}

// What a reload tells whoever asked for it.
export type ReloadAnswer =
  | {
      readonly kind: 'taken';
      /** A sentence for each changed setting that takes effect at the next start only. */
      readonly later: readonly string[];
    }
  | {
      readonly kind: 'refused';
      /** Every reason; the configuration before stays in use. */
      readonly reasons: readonly string[];
    };

export interface OwnPagesOptions {
  /** Base scrape path, such as `/metrics`. */
  readonly path: string;
  readonly selfMetrics: SelfMetrics;
  /** What the process knows of itself now. */
  readonly service: () => ServiceFacts;
  /** Unix time in milliseconds. */
  readonly unixMs: () => number;
  /** Path of trees; undefined if they are off. */
  readonly treePath: string | undefined;
  /** Undefined if trees are off. */
  readonly tree: TreeResponder | undefined;
  readonly scope: (name: string) => Scope | undefined;
  /** Names of the scopes that apply to a target at the moment. */
  readonly scopeNames: (target: Target) => readonly string[];
  /** Reads the configuration again. Undefined where clients may not ask for it. */
  readonly reload: (() => ReloadAnswer) | undefined;
}

type OwnPage = (
  targets: readonly Target[],
  options: OwnPagesOptions,
  request: IncomingMessage,
  query: URLSearchParams,
) => Observable<Reply>;

/** By path; answered to GET and HEAD. */
export const OWN_PAGES: ReadonlyMap<string, OwnPage> = new Map<string, OwnPage>([
  ['/', (targets, options, _, query) => of(status(targets, options, query))],
  ['/-/healthy', () => of(textReply(200, 'healthy'))],
  ['/-/ready', (targets) => of(readiness(targets))],
  [
    '/-/targets',
    (targets, { path }, request) =>
      page(
        discoveryDocument(targets, authorityOf(request), path, request.socket instanceof TLSSocket),
        'application/json',
      ),
  ],
  [
    '/-/metrics',
    (targets, { selfMetrics }) =>
      defer(() => selfMetrics.text(targets)).pipe(
        map((text) => ({
          status: 200,
          headers: { Vary: 'Accept-Encoding' },
          page: compressiblePage(text, selfMetrics.contentType),
        })),
      ),
  ],
]);

/** The page that is answered to POST alone. */
export const RELOAD_PATH = '/-/reload';

/** 200 when the configuration is in use, with what of it is not yet; else 500 with every reason. */
export function reloaded(reload: () => ReloadAnswer): Observable<Reply> {
  const answer = reload();
  return of(
    answer.kind === 'taken'
      ? textReply(200, ['configuration reloaded', ...answer.later].join('\n'))
      : textReply(500, ['configuration not reloaded:', ...answer.reasons].join('\n')),
  );
}

/** How all targets are, or some of very many. */
function status(
  targets: readonly Target[],
  { path, treePath, service, unixMs, scope, scopeNames }: OwnPagesOptions,
  query: URLSearchParams,
): Reply {
  const from = Number(query.get('from') ?? 0);
  const isPlace = Number.isInteger(from) && from > 0 && from < targets.length;
  const scopesFor = (target: Target): readonly Scope[] =>
    scopeNames(target).flatMap((name) => scope(name) ?? []);
  const facts = { path, treePath, scopesFor, service: service(), nowMs: unixMs() };
  return pageReply(200, statusPage(targets, facts, isPlace ? from : 0));
}

const page = (text: string, contentType: string): Observable<Reply> =>
  of({ status: 200, page: plainPage(text, contentType) });

/** Ready when every target is. */
function readiness(targets: readonly Target[]): Reply {
  const waiting = targets.map((target) => target.status()).filter(({ isReady }) => !isReady);
  if (waiting.length === 0) return textReply(200, 'ready');
  const [first] = waiting;
  const reason = first?.progress.reason ?? '';
  return textReply(
    503,
    `${waiting.length} of ${pluralize(targets.length, 'target')} not ready: ${reason}`,
  );
}
