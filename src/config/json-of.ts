// Values of a configuration as JSON, to compare them.

/** The same for the same values. An integer of a file is a bigint, which JSON does not know. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? String(each) : each));
