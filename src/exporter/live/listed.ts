// Bounds lists of findings, so that they stay readable.

/** The most findings of one kind that are printed for a target. */
const MAX_LINES = 20;
/** The most names in one line. */
const MAX_NAMES = 10;
/** The most known names that an unknown one is compared with. */
const MAX_CANDIDATES = 5000;

/** The first findings, and how many more there are; `what` names them in the plural. */
export function firstOf(lines: readonly string[], what: string): readonly string[] {
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `and ${more} more ${what}`] : lines;
}

/** Names in one line; of many, the first ones. */
export function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  const first = names.slice(0, MAX_NAMES).join(', ');
  return more > 0 ? `${first} and ${more} more` : first;
}

/** A bounded set of names to compare others with. */
export class Candidates extends Set<string> {
  override add(word: string): this {
    return this.size < MAX_CANDIDATES ? super.add(word) : this;
  }
}
