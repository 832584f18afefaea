// Tries what the value of a setting asks for.
import { namedFault } from './named-fault.js';

/** The result of `attempt`; the message of a Fault begins with the `subject`, such as `license_file`. */
export function concerning<T>(subject: string, attempt: () => T): T {
  try {
    return attempt();
  } catch (thrown) {
    throw namedFault(subject, thrown);
  }
}
