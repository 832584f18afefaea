// The parameters that select a target: which targets they match, and which ones a link needs. Spec 4.3.
import type { Target } from '../model.js';

/** What a request says of its target; undefined for what it does not say. */
export interface RoutingParameters {
  readonly serverKey: string | undefined;
  readonly app: string | undefined;
  readonly instance: string | undefined;
}

/** Whether a target matches all parameters that are given. */
export const matches = (target: Target, { serverKey, app, instance }: RoutingParameters): boolean =>
  (app === undefined || target.app === app) &&
  (serverKey === undefined || isOnKey(target, serverKey)) &&
  (instance === undefined || (instance !== '' && instanceOf(target) === instance));

/**
 * The fewest parameters that select a target, the same whether it is ready or not.
 * None for the only target that looks through several server keys, since its key may change.
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

/** The key whose root was chosen last, else the first one. */
export const serverKeyOf = ({ lastRoot, serverKeys }: Target): string =>
  lastRoot?.serverKey ?? serverKeys[0] ?? '';

/** Its root, else its last root, else the configured hint. */
const instanceOf = ({ lastRoot, instance }: Target): string => lastRoot?.id ?? instance;

/** While a root is chosen only its key counts; else all that the target looks through. */
function isOnKey(target: Target, serverKey: string): boolean {
  if (!target.serverKeys.includes(serverKey)) return false;
  if (target.serverKeys.length === 1) return true;
  const status = target.status();
  return status.root === '' || status.serverKey === serverKey;
}
