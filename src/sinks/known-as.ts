// By what requests know a target, and which parameters select it among all. Spec 4.3.
import type { Target } from '../model.js';

/** What a request says of the target that it wants; undefined for what it does not say. */
interface Wanted {
  readonly serverKey: string | undefined;
  readonly app: string | undefined;
  readonly instance: string | undefined;
}

/** Whether all that is said of a target is true of this one. */
export const isKnownAs = (target: Target, { serverKey, app, instance }: Wanted): boolean =>
  (app === undefined || target.app === app) &&
  (serverKey === undefined || isOnKey(target, serverKey)) &&
  (instance === undefined || (instance !== '' && instanceOf(target) === instance));

/**
 * The parameters that select a target: as few as can be, and the same whether it is ready or not.
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

/** Its root, else the one that it had last, else what is known of the one that it will have. */
const instanceOf = ({ lastRoot, instance }: Target): string => lastRoot?.id ?? instance;

/** While a root is chosen only its key counts; else all that the target looks through. */
function isOnKey(target: Target, serverKey: string): boolean {
  if (!target.serverKeys.includes(serverKey)) return false;
  if (target.serverKeys.length === 1) return true;
  const status = target.status();
  return status.root === '' || status.serverKey === serverKey;
}
