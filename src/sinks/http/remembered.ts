// Remembers what was made of the headers that clients send again and again.

/** Clients with other headers are few; a long header is not kept. */
const MAX_HEADERS = 32;
const MAX_LENGTH = 256;

/** Makes a function that remembers the results of the last short headers. */
export function remembered<T>(of: (header: string) => T): (header: string) => T {
  const known = new Map<string, T>();
  return (header) => {
    const former = known.get(header);
    if (former !== undefined) return former;
    const result = of(header);
    if (header.length > MAX_LENGTH) return result;
    if (known.size === MAX_HEADERS) known.clear();
    known.set(header, result);
    return result;
  };
}
