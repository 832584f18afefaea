// Tests that every page with commands or programs has a test that runs them.
import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { pageBlocks } from '../support/page-blocks.js';

/** Pages outside of docs. */
const OTHERS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'sdk/c/README.md',
  'sdk/python/README.md',
];
const TESTS = 'test/pages';

describe('every page', () => {
  const tests = readdirSync(TESTS).map((file) => readFileSync(`${TESTS}/${file}`, 'utf8'));
  const pages = readdirSync('docs')
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`);

  for (const page of [...OTHERS, ...pages]) {
    const { length } = pageBlocks(readFileSync(page, 'utf8')).filter(({ language }) => language);
    if (length > 0)
      it(`has a test: ${page}`, () =>
        expect(
          tests.some((text) => text.includes(`'${page}'`) && /reads\w*Page\(/.test(text)),
        ).to.equal(true));
  }

  // In the folder of the sources, npx builds `dist` again, and other commands fail meanwhile. The page about
  // TypeScript uses npx in a folder with the installed packages.
  for (const page of pages.concat(OTHERS).filter((each) => each !== 'docs/publish-typescript.md'))
    it(`runs no program of the sources with npx: ${page}`, () =>
      expect(readFileSync(page, 'utf8')).not.to.match(/^[$#] npx shm_|with `npx` before/m));
});
