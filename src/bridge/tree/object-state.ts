// The management state that a component may state of an object.
import type { ObjectState } from '../../model.js';

/** By the letters alone: how real servers spell them is known for few. */
const STATES: ReadonlyMap<string, ObjectState> = new Map<string, ObjectState>([
  ['init', 'init'],
  ['initializing', 'init'],
  ['manualrecovery', 'manual_recovery'],
  ['autorecovery', 'auto_recovery'],
  ['automaticrecovery', 'auto_recovery'],
  ['dead', 'dead'],
  ['invalid', 'invalid'],
]);

/** What is not stated, or in a word that is not known, is taken for normal. */
export function objectState(raw: unknown): ObjectState {
  if (typeof raw !== 'string' || raw.length > 64) return 'normal';
  return STATES.get(raw.toLowerCase().replace(/[^a-z]/g, '')) ?? 'normal';
}
