// The links of a page of docs/ that lead nowhere.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Headings as they stand in links. */
const headingsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );

/** All links of a page as `file` or `file#heading`, and those of them that lead nowhere. */
export function linksOf(page: string): { all: string[]; broken: string[] } {
  const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g)].map(
    ([, path = '', heading]) => ({ file: path === '' ? page : join(dirname(page), path), heading }),
  );
  const isBroken = ({ file, heading }: (typeof links)[number]) =>
    !existsSync(file) || (heading !== undefined && !headingsOf(file).includes(heading));
  const text = ({ file, heading }: (typeof links)[number]) =>
    heading === undefined ? file : `${file}#${heading}`;
  return { all: links.map(text), broken: links.filter(isBroken).map(text) };
}
