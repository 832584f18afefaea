// Computes the expected answer to a scrape from the specification alone: spec 4.3 and 7.

/** The state of a target: without a segment, not synced yet, ready, or lost after it was ready. */
export type Standing = 'without a segment' | 'syncing' | 'ready' | 'lost';

/** A target as configured, and the root that its publisher publishes. */
export interface Scraped {
  readonly app: string;
  readonly serverKeys: readonly string[];
  readonly hint: string;
  readonly serverKey: string;
  readonly root: string;
  /** A value that no other target's page has. */
  readonly value: number;
}

export interface Configured {
  readonly target: Scraped;
  readonly standing: Standing;
}

/** All values that a request has for each parameter. `inPath` is the scope in its path. */
export interface Asking {
  readonly server_key: readonly string[];
  readonly app: readonly string[];
  readonly instance: readonly string[];
  readonly scope: readonly string[];
  readonly inPath: readonly string[];
}

/**
 * The expected status. With 200, also the value on the page. With 400, also whether rule 1 of spec 7 gives
 * the message.
 */
export type Wanted =
  | { readonly status: 200; readonly value: number; readonly isScoped: boolean }
  | { readonly status: 400; readonly isRule1: boolean }
  | { readonly status: 404 | 503 };

/** @param scopes for each configured scope, whether it matches a rendered metric */
export function wantedOf(
  asking: Asking,
  configured: readonly Configured[],
  scopes: ReadonlyMap<string, boolean>,
): Wanted {
  // Beyond the specification: a parameter that is given twice gets 400, and so does a path whose scope differs from the query.
  const { inPath, ...parameters } = asking;
  if (Object.values(parameters).some((values) => values.length > 1))
    return { status: 400, isRule1: false };
  const [scope, otherScope] = [...new Set([...asking.scope, ...inPath])];
  if (otherScope !== undefined) return { status: 400, isRule1: false };

  // Spec 7 rule 1: a scoped request without enough routing parameters when several targets are configured.
  const unclear: Wanted = { status: 400, isRule1: scope !== undefined && configured.length > 1 };
  const hasKey = asking.server_key.length > 0;
  const hasApp = asking.app.length > 0;
  const hasInstance = asking.instance.length > 0;
  // 4.3.1: with exactly one configured target, a request without routing parameters selects it. 4.3.2: with
  // several targets, routing parameters are required, also for scoped requests.
  if (!hasKey && !hasApp && !hasInstance && configured.length > 1) return unclear;
  // Spec 7: without server_key, app and instance must be given together.
  if (!hasKey && hasApp !== hasInstance) return unclear;
  // 4.3.3, 4.3.4: server_key selects a target, and so do app and instance together.
  const found = configured.filter(
    ({ target, standing }) =>
      asking.server_key.every((key) => keysOf(target, standing).includes(key)) &&
      asking.app.every((app) => app === target.app) &&
      asking.instance.every((instance) => instance === identityOf(target, standing)),
  );
  // Spec 7: the requested target is not found. 4.3.5: several targets match the parameters.
  const [one, another] = found;
  if (one === undefined) return { status: 404 };
  if (another !== undefined) return unclear;
  // 4.3.6: readiness is checked before the scope.
  if (one.standing !== 'ready') return { status: 503 };
  // Spec 7: the scope does not exist, or it matches no rendered metric.
  if (scope !== undefined && scopes.get(scope) !== true) return { status: 404 };
  return { status: 200, value: one.target.value, isScoped: scope !== undefined };
}

/** The server key of the target's root. Without a root, all server keys of the target. */
const keysOf = ({ serverKeys, serverKey }: Scraped, standing: Standing): readonly string[] =>
  standing === 'ready' || standing === 'syncing' ? [serverKey] : serverKeys;

/** Spec 4.1: the id of the resolved root. Without a root, the hint, unless it is empty. */
const identityOf = ({ root, hint }: Scraped, standing: Standing): string | undefined =>
  standing !== 'without a segment' ? root : hint === '' ? undefined : hint;
