// What the address of a tree asks for, beside the target.
import { TREE_CHOICES, TREE_FIELDS } from '../../../model.js';
import type { TreeChoice, TreeField } from '../../../model.js';

export interface TreeParameters {
  /** An object's id, or its path below the root; empty for the whole tree. */
  readonly object: string;
  /** What is searched for, as it was written. */
  readonly q: string;
  readonly field: TreeField;
  readonly choice: TreeChoice;
  /** Where the parts before began, and where this one does: the last of them. */
  readonly trail: readonly number[];
  /** Whether the page updates itself. */
  readonly isLive: boolean;
}

const NAMES = ['object', 'q', 'in', 'show', 'from', 'live'] as const;
/** Parts that `previous` leads back through. */
const MAX_TRAIL = 32;
const MAX_POSITION = 2 ** 32;
const MAX_TEXT = 1024;

/** A sentence says what is wrong with them. */
export function readParameters(
  query: URLSearchParams,
): TreeParameters | { readonly problem: string } {
  const twice = NAMES.find((name) => query.getAll(name).length > 1);
  if (twice !== undefined) return { problem: `parameter ${twice} is given more than once` };
  const [object = '', q = '', wantedField = 'any', wantedChoice = 'all', from = '0', live = ''] =
    NAMES.map((name) => query.get(name) ?? undefined);
  const field = TREE_FIELDS.find((each) => each === (wantedField || 'any'));
  if (field === undefined)
    return { problem: `parameter in is ${shown(wantedField)}, allowed: ${TREE_FIELDS.join(', ')}` };
  const choice = TREE_CHOICES.find((each) => each === (wantedChoice || 'all'));
  if (choice === undefined)
    return {
      problem: `parameter show is ${shown(wantedChoice)}, allowed: ${TREE_CHOICES.join(', ')}`,
    };
  if (Math.max(object.length, q.length) > MAX_TEXT)
    return { problem: `parameters object and q have at most ${MAX_TEXT} characters` };
  const trail = (from || '0').split('.').map(Number);
  const isTrail = /^\d{1,10}(\.\d{1,10})*$/.test(from || '0') && Math.max(...trail) <= MAX_POSITION;
  if (!isTrail)
    return { problem: `parameter from is ${shown(from)}, allowed: a position from 0 on` };
  return { object, q, field, choice, trail: trail.slice(-MAX_TRAIL), isLive: live === '1' };
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 80));

/** Parameters of an address; those with their usual value are left out. */
export const writeParameters = ({
  object,
  q,
  field,
  choice,
  trail,
  isLive,
}: TreeParameters): Readonly<Record<string, string>> => ({
  object,
  q,
  in: field === 'any' ? '' : field,
  show: choice === 'all' ? '' : choice,
  from: trail.length === 1 && trail[0] === 0 ? '' : trail.slice(-MAX_TRAIL).join('.'),
  live: isLive ? '1' : '',
});
