// Routes a request to a target and a scope, and finds the parameters that select a target (spec 4.2, 4.3 and 7).
import { quoted } from '../../document/document.js';
import { nearest } from '../../document/nearest.js';
import type { Target } from '../../model.js';
import { serverKeyOf } from '../sink.js';

export type Routed =
  | {
      readonly kind: 'target';
      readonly target: Target;
      /** The name of the requested scope; undefined for all metrics. */
      readonly scope: string | undefined;
    }
  | { readonly kind: 'refused'; readonly status: 400 | 404; readonly text: string };

const PARAMETERS = ['server_key', 'app', 'instance'] as const;

/** Whether a query has a parameter that selects a target. */
export const hasRouting = (query: URLSearchParams): boolean =>
  PARAMETERS.some((name) => query.has(name));

const KNOWN: readonly string[] = [...PARAMETERS, 'scope'];

const refused = (status: 400 | 404, text: string): Routed => ({ kind: 'refused', status, text });

/** The error text of specification 7, rule 1. */
const ROUTING_STILL_REQUIRED =
  'scope selected, but target routing still required when multiple targets are configured';

/** Routes a request. @param inPath the scope in the path; undefined if the path has no scope */
export function route(targets: readonly Target[], query: URLSearchParams, inPath?: string): Routed {
  const routed = routedBy(targets, query, inPath);
  return routed.kind === 'refused' ? { ...routed, text: routed.text + misspelt(query) } : routed;
}

/** A hint about an unknown parameter whose name resembles a known one; empty if there is none. */
function misspelt(query: URLSearchParams): string {
  for (const name of query.keys()) {
    const near = KNOWN.includes(name) ? undefined : nearest(name, KNOWN);
    if (near !== undefined) return `; found ${quoted(name)} (did you mean "${near}"?)`;
  }
  return '';
}

function routedBy(
  targets: readonly Target[],
  query: URLSearchParams,
  inPath: string | undefined,
): Routed {
  const twice = KNOWN.find((name) => query.getAll(name).length > 1);
  if (twice !== undefined) return refused(400, `parameter ${twice} is given more than once`);
  const scope = query.get('scope') ?? inPath;
  if (scope !== undefined && inPath !== undefined && scope !== inPath)
    return refused(
      400,
      `the path selects scope ${JSON.stringify(inPath)}, but the query selects ${JSON.stringify(scope)}`,
    );
  const isScoped = scope !== undefined && targets.length > 1;
  const notEnough = (text: string) => refused(400, isScoped ? ROUTING_STILL_REQUIRED : text);
  const parameters = PARAMETERS.map((name) => query.get(name) ?? undefined);
  const [serverKey, app, instance] = parameters;
  const [only, another] = targets;
  if (serverKey === undefined && app === undefined && instance === undefined) {
    if (only !== undefined && another === undefined) return { kind: 'target', target: only, scope };
    return notEnough('several targets are configured: add server_key, or app and instance');
  }
  if (serverKey === undefined && (app === undefined || instance === undefined))
    return notEnough('app and instance must be given together; or use server_key');
  const matching = targets.filter((target) => matches(target, parameters));
  const configured = matching.filter(({ isDiscovered }) => !isDiscovered);
  // Discovery must not make the requests for a configured target ambiguous.
  const [match, second] = configured.length > 0 ? configured : matching;
  if (match === undefined) return refused(404, noTarget(targets));
  if (second !== undefined)
    return notEnough(
      serverKey === undefined
        ? 'several targets share app and instance: add server_key'
        : 'several targets share this server_key: add app and instance',
    );
  return { kind: 'target', target: match, scope };
}

/** The maximum number of targets that an error text lists. */
const MAX_LISTED = 20;

/** The error text if no target matches the parameters. It lists the parameters of the targets. */
function noTarget(targets: readonly Target[]): string {
  const of = parametersOf(targets, false);
  const listed = targets.slice(0, MAX_LISTED).map((target) => {
    const parameters = new URLSearchParams(of(target));
    return parameters.size === 0 ? 'none' : parameters.toString();
  });
  const more = targets.length - listed.length;
  const rest = more === 0 ? '' : `, and ${more} more`;
  return `no target matches the routing parameters, allowed: ${listed.join(', ')}${rest}`;
}

/** Whether a target matches all parameters that are not undefined. */
const matches = (
  target: Target,
  [serverKey, app, instance]: readonly (string | undefined)[],
): boolean =>
  (app === undefined || target.app === app) &&
  (serverKey === undefined || isOnKey(target, serverKey)) &&
  (instance === undefined || (instance !== '' && instanceOf(target) === instance));

/** Makes a function that returns the targets with the server key of a target. */
function peersOf(targets: readonly Target[]): (target: Target) => readonly Target[] {
  const onKey = new Map<string, Target[]>();
  for (const target of targets)
    for (const key of target.serverKeys) {
      const others = onKey.get(key);
      if (others === undefined) onKey.set(key, [target]);
      else others.push(target);
    }
  return (target) => onKey.get(serverKeyOf(target)) ?? [];
}

/**
 * Makes a function that returns the fewest parameters that select a target, ready or not. There are none for a single
 * target with several server keys, since its current key may change, unless there is a host page.
 * @param hasHostPage whether requests without parameters get the metrics of all targets
 */
export function parametersOf(
  targets: readonly Target[],
  hasHostPage: boolean,
): (target: Target) => Readonly<Record<string, string>> {
  const peers = peersOf(targets);
  const isDefault = targets.length === 1 && !hasHostPage;
  return (target) => {
    if (isDefault && target.serverKeys.length > 1) return {};
    const serverKey = serverKeyOf(target);
    const others = peers(target).filter((each) => each !== target);
    if (others.length === 0) return { server_key: serverKey };
    const { app } = target;
    const instance = instanceOf(target);
    const isAlone = instance === '' || !others.some((each) => each.app === app);
    return { server_key: serverKey, app, ...(isAlone ? {} : { instance }) };
  };
}

/**
 * Makes a function that returns the query that selects a target; undefined if no query selects it.
 * @param hasHostPage whether requests without parameters get the metrics of all targets
 */
export function queriesOf(
  targets: readonly Target[],
  hasHostPage: boolean,
): (target: Target) => URLSearchParams | undefined {
  const of = parametersOf(targets, hasHostPage);
  const peers = peersOf(targets);
  return (target) => {
    const query = new URLSearchParams(of(target));
    // Unless a target is the default, its query has a server key, so only targets on this key can match it.
    const routed = route(peers(target), query);
    return routed.kind === 'refused' || routed.target !== target ? undefined : query;
  };
}

/** The id of the last root; the configured hint if there was no root. */
const instanceOf = ({ lastRoot, instance }: Target): string => lastRoot?.id ?? instance;

/** Whether a target reads a server key. A target with a root reads only the root's key. */
function isOnKey(target: Target, serverKey: string): boolean {
  if (!target.serverKeys.includes(serverKey)) return false;
  if (target.serverKeys.length === 1) return true;
  const status = target.status();
  return status.root === '' || status.serverKey === serverKey;
}
