// Reads the values of a poller whose source does not announce changes.
import type { ManagedObject, Source, Variable } from '#app/model.js';
import type { PollResult, Poller } from '#app/streams/poller.js';

/** Clocks that a test sets, so that no test waits for time to pass. */
export class SetClocks {
  ms = 1000;
  readonly nowMs = (): number => this.ms;
  readonly unixMs = (): number => Date.now();
}

/** Polls until no changes are left, and returns the last poll result. */
export function pollAll(poller: Pick<Poller, 'poll'>): PollResult {
  let seen = poller.poll();
  while (seen.hasMore) seen = poller.poll();
  return seen;
}

/**
 * Copies all values once. The key is the object's path below the root and the variable's name, with a blank
 * between them. Numbers are signed 64-bit integers; a variable without a value is undefined.
 */
export function valuesOf({
  source,
}: Pick<PollResult, 'source'>): Map<string, bigint | string | undefined> {
  const values = new Map<string, bigint | string | undefined>();
  if (source === undefined) return values;
  const valueOf = copied(source);
  for (const root of source.roots)
    for (const object of objectsBelow(root))
      for (const variable of object.variables)
        values.set(
          `${object.name.slice(root.name.length + 1)} ${variable.name}`,
          valueOf(variable),
        );
  return values;
}

export function* objectsBelow(object: ManagedObject): Generator<ManagedObject> {
  yield object;
  for (const child of object.children) yield* objectsBelow(child);
}

/** More slots than the source of any test has. */
const SLOTS = 32_768;

/** Copies all values, then all words. Returns a function that reads a variable's value from the copy. */
function copied(source: Source): (variable: Variable) => bigint | string | undefined {
  const slots = Buffer.alloc(SLOTS * 8);
  const words = Buffer.alloc(SLOTS * 4);
  source.readSlots(0, SLOTS, slots);
  source.readWords(0, SLOTS, words);
  return (variable) => {
    const { slot, incarnation, type } = variable;
    if (words.readUInt32LE(slot * 4) !== ((incarnation << 1) | 1) >>> 0) return undefined;
    if (type !== 'string') return slots.readBigInt64LE(slot * 8);
    const frame = source.readFrame(variable);
    return frame?.type === 'string' ? frame.text : undefined;
  };
}
