// Words with * for any text, as settings have them.

/** Whether a word fits one of these; any does where there are none. */
export function fitsAny(word: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || patterns.some((pattern) => fits(word, pattern));
}

function fits(word: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  if (others.length === 0) return word === pattern;
  if (!word.startsWith(first)) return false;
  const last = others.pop() ?? '';
  let at = first.length;
  for (const part of others) {
    const found = word.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return word.length - last.length >= at && word.endsWith(last);
}
