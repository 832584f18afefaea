// The interface of a sink, routing parameters, and identity labels of targets.
import { asyncScheduler, filter, map, take, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { Target } from '../model.js';

/** An event that any sink can emit. A sink adds its own counts to the self-metrics. */
export type SinkEvent =
  /** Metrics are available at `where`. */
  | { readonly kind: 'opened'; readonly where: string }
  /** A response or document has ended. */
  | {
      readonly kind: 'served';
      /** The number of written bytes. */
      readonly bytes: number;
      readonly outcome: Outcome;
    }
  /** The sink closed a connection before its first request. */
  | { readonly kind: 'refused'; readonly address: string; readonly reason: string }
  /** The sink skipped a snapshot. */
  | { readonly kind: 'skipped'; readonly reason: string };

/** `refused`: the reader got an error instead of metrics. `cut`: the reader got an incomplete response. */
type Outcome = 'delivered' | 'refused' | 'cut';

/** The current targets; a reload replaces the list. */
export interface Targets {
  readonly targets: readonly Target[];
}

/**
 * The last stage of the pipeline. Subscribing opens the sink, unsubscribing closes it. A sink uses
 * targets and pages, but no segments and no streams.
 */
export type Sink = (registry: Targets) => Observable<SinkEvent>;

/** The routing parameters of a request; each is undefined if the request lacks it. */
interface RoutingParameters {
  readonly serverKey: string | undefined;
  readonly app: string | undefined;
  readonly instance: string | undefined;
}

/** Whether a target matches all given parameters. */
export const matches = (target: Target, { serverKey, app, instance }: RoutingParameters): boolean =>
  (app === undefined || target.app === app) &&
  (serverKey === undefined || isOnKey(target, serverKey)) &&
  (instance === undefined || (instance !== '' && instanceOf(target) === instance));

/**
 * The fewest parameters that select a target, ready or not. Empty for a single target with several
 * server keys, since its current key may change.
 */
export function parametersOf(
  target: Target,
  targets: readonly Target[],
): Readonly<Record<string, string>> {
  if (targets.length === 1 && target.serverKeys.length > 1) return {};
  const serverKey = serverKeyOf(target);
  const peers = targets.filter((each) => each !== target && each.serverKeys.includes(serverKey));
  if (peers.length === 0) return { server_key: serverKey };
  const { app } = target;
  const instance = instanceOf(target);
  const isAlone = instance === '' || !peers.some((each) => each.app === app);
  return { server_key: serverKey, app, ...(isAlone ? {} : { instance }) };
}

/** The server key of the last root; the first server key if there was no root. */
const serverKeyOf = ({ lastRoot, serverKeys }: Target): string =>
  lastRoot?.serverKey ?? serverKeys[0] ?? '';

/** The id of the last root; the configured hint if there was no root. */
const instanceOf = ({ lastRoot, instance }: Target): string => lastRoot?.id ?? instance;

/** Whether a target reads a server key. A target with a root reads only the root's key. */
function isOnKey(target: Target, serverKey: string): boolean {
  if (!target.serverKeys.includes(serverKey)) return false;
  if (target.serverKeys.length === 1) return true;
  const status = target.status();
  return status.root === '' || status.serverKey === serverKey;
}

/** The labels that identify a target in the self-metrics and in service discovery. */
export type IdentityLabels = Readonly<Record<string, string>>;

/**
 * The unique identity labels of each target. They do not name the root, so series continue when the root changes.
 * Only a root on another server key changes them. The label `twin` numbers targets that are otherwise equal, in the
 * order of the configuration.
 */
export function identitiesOf(targets: readonly Target[]): ReadonlyMap<Target, IdentityLabels> {
  const seen = new Map<string, number>();
  const identities = targets.map((target): [Target, IdentityLabels] => {
    const { app, instance } = target;
    const labels = { app, server_key: serverKeyOf(target), ...(instance && { hint: instance }) };
    const text = JSON.stringify(labels);
    const number = (seen.get(text) ?? 0) + 1;
    seen.set(text, number);
    return [target, number === 1 ? labels : { ...labels, twin: String(number) }];
  });
  return new Map(identities);
}

/** The interval of the readiness checks, in milliseconds. */
const CHECK_MS = 50;

/** Emits once, when all targets are ready, or at the latest after `longestMs`. */
export const whenReady = (
  registry: Targets,
  longestMs: number,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<void> =>
  timer(0, CHECK_MS, scheduler).pipe(
    filter(
      (checks) =>
        checks * CHECK_MS >= longestMs ||
        registry.targets.every((target) => target.status().isReady),
    ),
    take(1),
    map(() => undefined),
  );
