// The pages of the documentation, in the order of its index, and their navigation links.
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const INDEX = 'docs/README.md';

/** A page in the index. `path` is relative to the project. */
export interface ListedPage {
  readonly title: string;
  readonly path: string;
  /** What the page contains, in one line. */
  readonly contents: string;
}

/** The pages that the index lists, in its order. */
export function listedPages(): readonly ListedPage[] {
  const rows = readFileSync(INDEX, 'utf8').matchAll(/^\* \[([^\]]+)\]\(([^)]+\.md)\): (.*)$/gm);
  return [...rows].map(([, title = '', link = '', contents = '']) => {
    return { title, path: join(dirname(INDEX), link), contents };
  });
}

/**
 * Returns the text of a listed page with a link to the index as its first line, and a link to the next page
 * as its last.
 */
export function withNavigation(page: ListedPage, text: string): string {
  const pages = listedPages();
  const link = (title: string, path: string) => `[${title}](${relative(dirname(page.path), path)})`;
  const next = pages[pages.findIndex(({ path }) => path === page.path) + 1];
  const own = text.replace(/^\[Documentation\]\(.*\)\n\n/, '').replace(/\n+(?:Next: .*\n)?$/, '\n');
  const end = next === undefined ? '' : `\nNext: ${link(next.title, next.path)}\n`;
  return `${link('Documentation', INDEX)}\n\n${own}${end}`;
}
