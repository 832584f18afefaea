// Finds the broken links of a documentation page.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FENCED = /^( *)```.*?^\1```$/gms;
const CODE = /`[^`\n]*`/g;
/** Links to other sites, which are not checked: a test has no network. */
const ELSEWHERE = /^[a-z]+:/;

/** Returns the anchors of the headings. A repeated heading gets a number, from its second occurrence on. */
export function anchorsOf(text: string): string[] {
  const seen = new Map<string, number>();
  return [...text.replace(FENCED, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

/**
 * Returns all links of a page within the project, as `file` or `file#heading`, and the broken ones among
 * them.
 */
export function linksOf(page: string): { all: string[]; broken: string[] } {
  const text = readFileSync(page, 'utf8').replace(FENCED, '').replace(CODE, '``');
  const links = [...text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)]
    .filter(([, path = '']) => !ELSEWHERE.test(path))
    .map(([, path = '', heading]) => ({
      file: path === '' ? page : join(dirname(page), path),
      heading,
    }));
  const isBroken = ({ file, heading }: (typeof links)[number]) =>
    !existsSync(file) ||
    (heading !== undefined && !anchorsOf(readFileSync(file, 'utf8')).includes(heading));
  const name = ({ file, heading }: (typeof links)[number]) =>
    heading === undefined ? file : `${file}#${heading}`;
  return { all: links.map(name), broken: links.filter(isBroken).map(name) };
}
