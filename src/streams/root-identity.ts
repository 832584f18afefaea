// Host, instance and application of a root.
import type { ManagedObject, RootIdentity } from '../model.js';

/** What the root's record states, else its id parsed from the right: host names hold dots. */
export function identityOf({
  name,
  identity,
}: Pick<ManagedObject, 'name' | 'identity'>): RootIdentity {
  const segments = name.split('.');
  const application = segments.pop() ?? '';
  const instance = segments.pop() ?? '';
  return {
    host: identity.host || segments.join('.'),
    instance: identity.instance || instance,
    application: identity.application || application,
  };
}
