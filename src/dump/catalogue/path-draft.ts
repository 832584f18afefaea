// Drafts the path pattern of a class, from the paths of its objects.
import { ROOT } from '../../catalogue/match/patterns.js';
import { quotedText } from '../../shown/shown-text.js';
import { freeLabel } from './free-label.js';

export interface PathDraft {
  readonly pattern: string;
  readonly labels: readonly string[];
  readonly guesses: readonly string[];
}

/** The most characters of a pattern. */
const MAX_PATTERN = 1024;
/** Texts that a guess names. */
const MAX_NAMED = 3;
/** A text with a number at its end. */
const NUMBERED = /^([A-Za-z_][A-Za-z_-]*)?[0-9]+$/;
/** What a pattern can have as it is. */
const LITERAL = /^[^{}@\p{Cc}\p{Cs}]+$/u;

/**
 * @param segments for each path segment, the texts that it has
 * @param alias of the class; the last label is called so, if nothing says more
 */
export function pathDraft(segments: readonly ReadonlySet<string>[], alias: string): PathDraft {
  const parts: string[] = [];
  const labels: string[] = [];
  const guesses: string[] = [];
  for (const [index, texts] of segments.entries()) {
    const [first = ''] = texts;
    const number = commonNumber(texts);
    if (texts.size === 1 && number === undefined && LITERAL.test(first)) {
      parts.push(first);
      continue;
    }
    const isLast = index === segments.length - 1;
    const above = parts.at(-1) ?? '';
    const wanted = [number?.before ?? '', above, isLast ? alias : '', `part_${index + 1}`];
    const label = freeLabel(wanted, labels);
    labels.push(label);
    parts.push(number === undefined ? `{${label}}` : `{${label}~${number.before}[0-9]+}`);
    guesses.push(`label ${label} for ${listed(texts)}`);
  }
  const pattern = parts.length === 0 ? ROOT : parts.join('.');
  return pattern.length > MAX_PATTERN ? anyPath(segments.length) : { pattern, labels, guesses };
}

/** For paths that are too long to be written down. */
function anyPath(length: number): PathDraft {
  const labels = Array.from({ length }, (_, index) => `part_${index + 1}`);
  const pattern = labels.map((label) => `{${label}}`).join('.');
  return { pattern, labels, guesses: [`any path of ${length} parts`] };
}

/** What all of the texts have before the number at their end; undefined if one has no number there. */
function commonNumber(texts: ReadonlySet<string>): { readonly before: string } | undefined {
  const before = new Set(
    [...texts].map((text) => {
      const found = NUMBERED.exec(text);
      return found === null ? undefined : (found[1] ?? '');
    }),
  );
  const [only] = before;
  return before.size === 1 && only !== undefined ? { before: only } : undefined;
}

function listed(texts: ReadonlySet<string>): string {
  const named = [...texts].slice(0, MAX_NAMED).map(quotedText).join(', ');
  return texts.size > MAX_NAMED ? `${named} and others` : named;
}
