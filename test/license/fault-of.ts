// Returns the code and message of the fault that a call throws.
import { Fault } from '#app/errors.js';

export function faultOf(act: () => unknown): Pick<Fault, 'code' | 'message'> {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof Fault) return { code: thrown.code, message: thrown.message };
    throw thrown;
  }
  throw new Error('There was no fault');
}
