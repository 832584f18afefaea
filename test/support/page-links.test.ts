import { expect } from 'chai';
import { linksOf } from './page-links.js';
import { temporaryFolder } from './temporary-folder.js';

const FENCE = '```';
const PAGE = `# A page
[file](other.md), [heading](other.md#the-second_one), [again](#one-1), [site](https://example.com/none)
[gone](gone.md), [no heading](other.md#third), [a comment is none](#a-comment), \`[code](nowhere.md)\`

## One
${FENCE}console
# a comment
[also](code.md)
${FENCE}
## One
`;

describe('linksOf', () => {
  const folder = temporaryFolder();

  it('returns the links of a page, and the broken links among them', () => {
    folder.write('other.md', '# Other\n\n## The `second_one`\n');
    const page = folder.write('page.md', PAGE);
    const { all, broken } = linksOf(page);
    const nameOf = (link: string) => link.replace(/^.*\//, '');
    expect(all).to.have.lengthOf(6);
    expect(broken.map(nameOf)).to.deep.equal(['gone.md', 'other.md#third', 'page.md#a-comment']);
  });
});
