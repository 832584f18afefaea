// Tests the documentation as a site: its index lists every page once, and no link is broken.
import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { linksOf } from '../support/page-links.js';
import { INDEX, listedPages } from './documentation.js';

/** Folders with pages for users, and other folders with pages. */
const FOR_USERS = ['docs', 'sdk', 'examples'];
const OTHERS = ['deploy', 'bench', 'src', 'test'];

const below = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file));
const isPage = (file: string): boolean => file.endsWith('.md');
const userPages = FOR_USERS.flatMap(below).filter((file) => isPage(file) && file !== INDEX);
const allPages = [...readdirSync('.'), ...[...FOR_USERS, ...OTHERS].flatMap(below)].filter(isPage);
const read = (file: string): string => readFileSync(file, 'utf8');

describe('the documentation', () => {
  const listed = listedPages();

  it('lists every page once in its index', () =>
    expect(listed.map(({ path }) => path)).to.have.members(userPages));

  it('lists every example in its index', () => {
    const { all } = linksOf(INDEX);
    for (const entry of readdirSync('examples'))
      expect(
        all.some((link) => link.startsWith(join('examples', entry))),
        entry,
      ).to.equal(true);
  });

  it('describes each page of its index in one line', () => {
    for (const { contents, path } of listed) expect(contents, path).to.match(/^.{20,140}\.$/);
  });

  for (const [at, { title, path }] of listed.entries())
    it(`links ${path} to the index and to the next page`, () => {
      const lines = read(path).trimEnd().split('\n');
      const link = (to: string) => `](${relative(dirname(path), to)})`;
      expect(lines[0]).to.equal(`[Documentation${link(INDEX)}`);
      expect(lines.find((line) => line.startsWith('# '))).to.equal(`# ${title}`);
      const next = listed[at + 1];
      if (next === undefined) expect(lines.at(-1)).not.to.match(/^Next: /);
      else expect(lines.at(-1)).to.equal(`Next: [${next.title}${link(next.path)}`);
    });

  for (const page of allPages)
    it(`has no broken link in ${page}`, () => expect(linksOf(page).broken).to.deep.equal([]));

  it('includes pages outside docs/, so that their links are checked too', () =>
    expect(allPages).to.include.members(['README.md', 'ARCHITECTURE.md', 'sdk/c/README.md']));
});
