// The exporter's own pages: for people, for probes and for service discovery.
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { defer, map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Target } from '../../model.js';
import { authorityOf, discoveryDocument } from './discovery.js';
import { plainPage, textReply } from './reply.js';
import type { Reply } from './reply.js';
import type { SelfMetrics } from '../self-metrics.js';
import { statusPage } from './status-page.js';

export interface OwnPagesOptions {
  /** Base scrape path, such as `/metrics`. */
  readonly path: string;
  readonly selfMetrics: SelfMetrics;
  readonly version: string;
  /** Names of the scopes that apply to a target at the moment. */
  readonly scopeNames: (target: Target) => readonly string[];
  /** Reads the configuration again; returns why it was refused, if it was. Undefined where clients may not ask for it. */
  readonly reload: (() => readonly string[]) | undefined;
}

export type OwnPage = (
  targets: readonly Target[],
  options: OwnPagesOptions,
  request: IncomingMessage,
) => Observable<Reply>;

/** By path; answered to GET and HEAD. */
export const OWN_PAGES: ReadonlyMap<string, OwnPage> = new Map<string, OwnPage>([
  ['/', (targets, options) => page(statusPage(targets, options), 'text/html; charset=utf-8')],
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
          page: plainPage(text, selfMetrics.contentType),
          isCompressible: true,
        })),
      ),
  ],
]);

/** The page that is answered to POST alone. */
export const RELOAD_PATH = '/-/reload';

/** 200 when the configuration is in use, else 500 with every reason. */
export function reloaded(reload: () => readonly string[]): Observable<Reply> {
  const reasons = reload();
  return of(
    reasons.length === 0
      ? textReply(200, 'configuration reloaded')
      : textReply(500, ['configuration not reloaded:', ...reasons].join('\n')),
  );
}

const page = (text: string, contentType: string): Observable<Reply> =>
  of({ status: 200, page: plainPage(text, contentType) });

/** Ready when every target is. */
function readiness(targets: readonly Target[]): Reply {
  const waiting = targets.map((target) => target.status()).filter(({ isReady }) => !isReady);
  if (waiting.length === 0) return textReply(200, 'ready');
  const [first] = waiting;
  const reason = first?.progress.reason ?? '';
  return textReply(503, `${waiting.length} of ${targets.length} targets not ready: ${reason}`);
}
