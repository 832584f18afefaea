// Numbers of things in logs and messages.

/** The noun as it stands behind that number. */
export const nounFor = (count: number, noun: string, plural = `${noun}s`): string =>
  count === 1 ? noun : plural;

/** `1 object`, `1234 objects`: digits as programs read them. */
export const counted = (count: number, noun: string, plural?: string): string =>
  `${count} ${nounFor(count, noun, plural)}`;
