// What is made of an object once, and kept for as long as that lives.

/** What is known of a key; it is made where nothing is. */
export function madeOnce<K extends object, T>(
  known: WeakMap<K, T>,
  key: K,
  make: (key: K) => T,
): T {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make(key);
  known.set(key, made);
  return made;
}
