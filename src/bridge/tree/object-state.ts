// The management state that a component may report for an object.
import type { ObjectState } from '../../model.js';

/** By letters only: the spelling of real servers is known for few. */
const STATES: ReadonlyMap<string, ObjectState> = new Map<string, ObjectState>([
  ['init', 'init'],
  ['initializing', 'init'],
  ['manualrecovery', 'manual_recovery'],
  ['autorecovery', 'auto_recovery'],
  ['automaticrecovery', 'auto_recovery'],
  ['dead', 'dead'],
  ['invalid', 'invalid'],
]);

/** A missing or unknown state counts as normal. */
export function objectState(raw: unknown): ObjectState {
  if (typeof raw !== 'string' || raw.length > 64) return 'normal';
  return STATES.get(raw.toLowerCase().replace(/[^a-z]/g, '')) ?? 'normal';
}
