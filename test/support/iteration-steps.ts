// iterationSteps() counts how many items of maps and sets a function visits.

type Iterating = (this: unknown, ...args: unknown[]) => Iterator<unknown>;

/** The methods of maps and sets that return iterators. */
const METHODS = ['keys', 'values', 'entries', Symbol.iterator] as const;

/** Calls `run`, and returns how many items the iterators of all maps and sets returned during the call. */
export function iterationSteps(run: () => void): number {
  let steps = 0;
  const undo: (() => void)[] = [];
  for (const prototype of [Map.prototype, Set.prototype] as unknown as Record<
    PropertyKey,
    unknown
  >[])
    for (const method of METHODS) {
      const original = prototype[method] as Iterating;
      prototype[method] = function (this: unknown) {
        const iterator = original.call(this);
        const next = iterator.next.bind(iterator);
        iterator.next = () => {
          steps++;
          return next();
        };
        return iterator;
      };
      undo.push(() => (prototype[method] = original));
    }
  try {
    run();
  } finally {
    for (const each of undo) each();
  }
  return steps;
}
