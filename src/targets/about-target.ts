// An event that names the target that it is about.
import type { TargetEvent } from '../model.js';

/** @param message what follows the name of the target in the sentence */
export function aboutTarget(
  { app, serverKeys }: { readonly app: string; readonly serverKeys: readonly string[] },
  { level, message }: TargetEvent,
): TargetEvent {
  const name = `target ${app} on ${serverKeys.join(', ')}`;
  return { level, message: `${name} ${message}`, about: { app, serverKeys } };
}
