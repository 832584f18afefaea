// The endpoints besides scrapes, for people, probes and service discovery.
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { defer, map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { pluralize } from '../../pluralize.js';
import type { Scope, Target } from '../../model.js';
import type { SelfMetrics } from '../self-metrics.js';
import { identitiesOf } from '../sink.js';
import { authorityOf } from './listen-address.js';
import { htmlReply } from './pages/html.js';
import { statusPage } from './pages/status-page.js';
import type { ProcessInfo } from './pages/status-page.js';
import type { TreeResponder } from './pages/tree.js';
import { compressiblePage, plainPage, textReply } from './reply.js';
import type { Reply } from './reply.js';
import { parametersOf } from './route.js';

/** Matches a host name, an IPv4 address or an IPv6 address in brackets, with or without a port. */
const AUTHORITY = /^(?:[\w-][\w.-]{0,252}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** Matches the beginning of a link-local address (fe80::/10). */
const LINK_LOCAL = /^\[fe[89ab]/i;

/**
 * The JSON document of service discovery: a group for each target, ready or not. The labels name the last root, so they
 * do not change when the root is lost.
 * @param authority host and port at which Prometheus reaches this listener
 * @param path base scrape path
 * @param isSecure whether Prometheus uses HTTPS
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

/**
 * The Host header if it is valid, else the local address of the connection. Clients omit the zone of a link-local
 * address from the header (RFC 6874), so only the local address has the zone.
 */
function reachedAt({ headers, socket }: IncomingMessage): string {
  const { host = '' } = headers;
  const { localAddress = '', localPort = 0 } = socket;
  const lacksZone = localAddress.includes('%') && LINK_LOCAL.test(host);
  return AUTHORITY.test(host) && !lacksZone ? host : authorityOf(localAddress, localPort);
}

/** The result of a reload, for the client that requested it. */
export type ReloadAnswer =
  | {
      readonly kind: 'accepted';
      /** A sentence for each changed setting that only takes effect after a restart. */
      readonly needRestart: readonly string[];
    }
  | {
      readonly kind: 'refused';
      /** All errors of the new configuration. The current configuration stays in use. */
      readonly reasons: readonly string[];
    };

export interface EndpointOptions {
  /** Base scrape path, such as `/metrics`. */
  readonly path: string;
  readonly selfMetrics: SelfMetrics;
  /** The current facts about the process. */
  readonly service: () => ProcessInfo;
  /** Unix time in milliseconds. */
  readonly unixMs: () => number;
  /** The path of the tree page; undefined if the configuration disables it. */
  readonly treePath: string | undefined;
  /** Answers requests for the tree page; undefined if the configuration disables it. */
  readonly tree: TreeResponder | undefined;
  readonly scope: (name: string) => Scope | undefined;
  /** The names of the current scopes of a target. */
  readonly scopeNames: (target: Target) => readonly string[];
  /** Reloads the configuration; undefined if the configuration disables reloads by HTTP. */
  readonly reload: (() => ReloadAnswer) | undefined;
}

type Endpoint = (
  targets: readonly Target[],
  options: EndpointOptions,
  request: IncomingMessage,
  query: URLSearchParams,
) => Observable<Reply>;

/** The endpoints for GET and HEAD, by path. */
export const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  ['/', (targets, options, _, query) => of(status(targets, options, query))],
  ['/-/healthy', () => of(textReply(200, 'healthy'))],
  ['/-/ready', (targets) => of(readiness(targets))],
  [
    '/-/targets',
    (targets, { path }, request) =>
      page(
        discoveryDocument(targets, reachedAt(request), path, request.socket instanceof TLSSocket),
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

/** The path that reloads the configuration; accepts only POST. */
export const RELOAD_PATH = '/-/reload';

/** Reloads the configuration. Replies 200 with the settings that need a restart, or 500 with all errors. */
export function reloaded(reload: () => ReloadAnswer): Observable<Reply> {
  const answer = reload();
  return of(
    answer.kind === 'accepted'
      ? textReply(200, ['configuration reloaded', ...answer.needRestart].join('\n'))
      : textReply(500, ['configuration not reloaded:', ...answer.reasons].join('\n')),
  );
}

/** The status page. The parameter `from` of the query is the position of the first target. */
function status(
  targets: readonly Target[],
  { path, treePath, service, unixMs, scope, scopeNames }: EndpointOptions,
  query: URLSearchParams,
): Reply {
  const from = Number(query.get('from') ?? 0);
  const isInRange = Number.isInteger(from) && from > 0 && from < targets.length;
  const scopesFor = (target: Target): readonly Scope[] =>
    scopeNames(target).flatMap((name) => scope(name) ?? []);
  const facts = { path, treePath, scopesFor, service: service(), nowMs: unixMs() };
  return htmlReply(200, statusPage(targets, facts, isInRange ? from : 0));
}

const page = (text: string, contentType: string): Observable<Reply> =>
  of({ status: 200, page: plainPage(text, contentType) });

/** The reply of the readiness probe: 200 if all targets are ready. */
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
