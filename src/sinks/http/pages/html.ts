// HTML that escapes by itself: only what this file made is taken as it is.

/** Text that is HTML already. Nobody else makes one. */
export class Html {
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /** @param strings the literal parts of a template, which are HTML of ours */
  static of(strings: TemplateStringsArray, parts: readonly Part[]): Html {
    return new Html(String.raw({ raw: strings }, ...parts.map(textOf)));
  }
}

export type Part = Html | string | number | readonly Part[] | undefined;

/** A template whose values are escaped unless they are HTML; lists are joined, undefined is nothing. */
export const markup = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  Html.of(strings, parts);

export const escaped = (text: string): string =>
  text.replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`);

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  return part === undefined ? '' : escaped(String(part));
}
