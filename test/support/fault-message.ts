import { Fault } from '#app/errors.js';
import type { FaultCode } from '#app/errors.js';

/** Returns the message of the fault that `call` throws; any other outcome fails the test. */
export function faultMessage(code: FaultCode, call: () => unknown): string {
  try {
    call();
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === code) return thrown.message;
    throw thrown;
  }
  throw new Error(`No ${code} was thrown`);
}
