// Faults that name the setting that they concern.
import { Fault } from '../errors.js';

/** A Fault whose message begins with the name of the setting; anything else as it was thrown. */
export const namedFault = (name: string, thrown: unknown): unknown =>
  thrown instanceof Fault
    ? new Fault(thrown.code, `${name}: ${thrown.message}`, { cause: thrown })
    : thrown;

/** The result of `attempt`; the message of a Fault begins with the `subject`, such as `license_file`. */
export function concerning<T>(subject: string, attempt: () => T): T {
  try {
    return attempt();
  } catch (thrown) {
    throw namedFault(subject, thrown);
  }
}
