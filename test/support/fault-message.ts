// Returns the message of the fault that a call throws.
import { Fault } from '#app/errors.js';
import type { FaultCode } from '#app/errors.js';

/** The message of the fault that `call` throws; anything else that happens fails the test. */
export function faultMessage(code: FaultCode, call: () => unknown): string {
  try {
    call();
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === code) return thrown.message;
    throw thrown;
  }
  throw new Error(`No ${code} was thrown`);
}
