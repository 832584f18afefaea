// Patterns in which `*` stands for any text.

/**
 * Whether a text fits a pattern: `*` stands for any text, also an empty one; every other character
 * for itself. The time is bounded by the lengths of pattern and text, whatever the pattern.
 */
export function compileWildcard(pattern: string): (text: string) => boolean {
  const [start = '', ...rest] = pattern.split('*');
  const end = rest.pop();
  if (end === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(start) || !text.endsWith(end)) return false;
    let at = start.length;
    // The leftmost match of each part leaves the most text for the parts after it.
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at + end.length <= text.length;
  };
}

/** Whether a text fits one of these patterns; an empty list accepts every text. */
export function fitsAny(text: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || patterns.some((pattern) => compileWildcard(pattern)(text));
}
