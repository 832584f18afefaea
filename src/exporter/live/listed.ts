// Lists of findings that stay readable, however much there is to report.

/** Findings of one kind that are printed for a target. */
const MAX_LINES = 20;
/** Names in one line. */
const MAX_NAMES = 10;
/** Known words that a wrong one is compared with. */
const MAX_CANDIDATES = 5000;

/** The first findings, and how many more there are; `what` names them in the plural. */
export function firstOf(lines: readonly string[], what: string): readonly string[] {
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `and ${more} more ${what}`] : lines;
}

/** Names in one line, the first of them where there are many. */
export function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  const first = names.slice(0, MAX_NAMES).join(', ');
  return more > 0 ? `${first} and ${more} more` : first;
}

/** A set that takes no more than a bounded number of words to compare others with. */
export class Candidates extends Set<string> {
  override add(word: string): this {
    return this.size < MAX_CANDIDATES ? super.add(word) : this;
  }
}
