// Says of a failure which setting it concerns.
import { Fault } from '../errors.js';

/** A Fault whose message begins with the name of the setting; anything else as it was thrown. */
export const namedFault = (name: string, thrown: unknown): unknown =>
  thrown instanceof Fault
    ? new Fault(thrown.code, `${name}: ${thrown.message}`, { cause: thrown })
    : thrown;
