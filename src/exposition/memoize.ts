// Functions that cache their result.

/** Makes a function that calls `compute` once for each object, and keeps the result as long as the object exists. */
export function memoize<K extends object, T>(compute: (key: K) => T): (key: K) => T {
  const known = new WeakMap<K, T>();
  return (key) => {
    const former = known.get(key);
    if (former !== undefined) return former;
    const result = compute(key);
    known.set(key, result);
    return result;
  };
}

/** Makes a function that returns the result of the first call of `make`. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
