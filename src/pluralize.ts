// Numbers of things in logs and messages.

/** The singular or plural form of a noun. */
export const nounFor = (count: number, noun: string, plural = `${noun}s`): string =>
  count === 1 ? noun : plural;

/** A number and its noun: `1 object`, `1234 objects`. */
export const pluralize = (count: number, noun: string, plural?: string): string =>
  `${count} ${nounFor(count, noun, plural)}`;
