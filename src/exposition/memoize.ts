// Functions that cache their result for each object, as long as the object exists.

/** Makes a function that calls `compute` once for each object. */
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
