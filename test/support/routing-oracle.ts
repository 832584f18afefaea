// Computes the expected answer to a scrape only from spec 4.3 and 7 and design 3.

/** The state of a target: not seen yet, not synced yet, ready, or lost after it was ready. */
export type Standing = 'without a segment' | 'syncing' | 'ready' | 'lost';

/** A target as it is configured, and the root that its publisher shows. */
export interface Scraped {
  readonly app: string;
  readonly serverKeys: readonly string[];
  readonly hint: string;
  readonly serverKey: string;
  readonly root: string;
  /** A value that only its page has. */
  readonly value: number;
}

export interface Configured {
  readonly target: Scraped;
  readonly standing: Standing;
}

/** All values that a request gives for each parameter; `inPath` is the scope that its path names. */
export interface Asking {
  readonly server_key: readonly string[];
  readonly app: readonly string[];
  readonly instance: readonly string[];
  readonly scope: readonly string[];
  readonly inPath: readonly string[];
}

/** The status, for 200 with the value on the page, for 400 with whether rule 1 of spec 7 gives the message. */
export type Wanted =
  | { readonly status: 200; readonly value: number; readonly isScoped: boolean }
  | { readonly status: 400; readonly isRule1: boolean }
  | { readonly status: 404 | 503 };

/** @param scopes the configured scopes, and whether each matches a rendered metric */
export function wantedOf(
  asking: Asking,
  configured: readonly Configured[],
  scopes: ReadonlyMap<string, boolean>,
): Wanted {
  // Design 3: "a routing parameter or scope given twice 400", "scope in path and query must agree, else 400".
  const { inPath, ...parameters } = asking;
  if (Object.values(parameters).some((values) => values.length > 1))
    return { status: 400, isRule1: false };
  const [scope, otherScope] = [...new Set([...asking.scope, ...inPath])];
  if (otherScope !== undefined) return { status: 400, isRule1: false };

  // Spec 7 rule 1: a scoped request without enough routing, when multiple targets are configured.
  const unclear: Wanted = { status: 400, isRule1: scope !== undefined && configured.length > 1 };
  const hasKey = asking.server_key.length > 0;
  const hasApp = asking.app.length > 0;
  const hasInstance = asking.instance.length > 0;
  // 4.3.1: when exactly one target is configured, a request without routing parameters resolves it.
  // 4.3.2: when several are, routing is required, for scoped requests as well.
  if (!hasKey && !hasApp && !hasInstance && configured.length > 1) return unclear;
  // Spec 7: app without instance or the reverse when server_key is omitted.
  if (!hasKey && hasApp !== hasInstance) return unclear;
  // 4.3.3, 4.3.4: server_key selects; app together with instance selects.
  const found = configured.filter(
    ({ target, standing }) =>
      asking.server_key.every((key) => keysOf(target, standing).includes(key)) &&
      asking.app.every((app) => app === target.app) &&
      asking.instance.every((instance) => instance === identityOf(target, standing)),
  );
  // Spec 7: requested target not found. 4.3.5: more than one target shares what was given.
  const [one, another] = found;
  if (one === undefined) return { status: 404 };
  if (another !== undefined) return unclear;
  // 4.3.6 and design 3: readiness before the scope.
  if (one.standing !== 'ready') return { status: 503 };
  // Spec 7: scope name not found, or the scope matches no rendered metrics.
  if (scope !== undefined && scopes.get(scope) !== true) return { status: 404 };
  return { status: 200, value: one.target.value, isScoped: scope !== undefined };
}

/** The server key of the root; without a root, all server keys of the target. */
const keysOf = ({ serverKeys, serverKey }: Scraped, standing: Standing): readonly string[] =>
  standing === 'ready' || standing === 'syncing' ? [serverKey] : serverKeys;

/** Spec 4.1: the resolved root id. Without a root, the hint, unless it is empty. */
const identityOf = ({ root, hint }: Scraped, standing: Standing): string | undefined =>
  standing !== 'without a segment' ? root : hint === '' ? undefined : hint;
