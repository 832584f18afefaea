import { expect } from 'chai';
import { commandsOf, pageBlocks } from '../support/page-blocks.js';
import { PageOutput } from '../support/page-output.js';

const PAGE = `# Shop

Save this as \`shop.mts\`, beside \`package.json\`:

\`\`\`ts
const a = 1;
\`\`\`

## Run it

\`\`\`console
$ echo a \\
  b
# HELP a b
a b
# reboot
\`\`\`
`;

describe('the blocks of a page', () => {
  const [program, terminal] = pageBlocks(PAGE);
  if (program === undefined || terminal === undefined) throw new Error('no blocks');

  it('have a line number, a heading, and the file name in the text above them', () => {
    const { language, line, heading, file } = program;
    const expected = { language: 'ts', line: 6, heading: 'Shop', file: 'shop.mts' };
    expect({ language, line, heading, file }).to.deep.equal(expected);
    expect(terminal.file).to.equal(undefined);
  });

  it('have commands with their outputs, even commands for root and commands of several lines', () =>
    expect(commandsOf(terminal)).to.deep.equal([
      { prompt: '$', line: 12, command: 'echo a \\\n  b', output: ['# HELP a b', 'a b'] },
      { prompt: '#', line: 16, command: 'reboot', output: [] },
    ]));

  it('are rejected if a block is not closed', () =>
    expect(() => pageBlocks('```sh\nls\n')).to.throw('The block of line 1 has no end'));

  it('are rejected if a console block has output but no command', () =>
    expect(() => pageBlocks('```console\nls\n```\n').flatMap(commandsOf)).to.throw('no command'));
});

describe('the output on a page', () => {
  const isShown = (lines: readonly string[], output: string) => {
    try {
      new PageOutput(lines, [/port \d+/g]).check(output);
      return true;
    } catch {
      return false;
    }
  };
  const cases = [
    ['matches the same output', ['a', 'b'], 'a\nb\n', true],
    ['does not match a longer output', ['a'], 'a\nb\n', false],
    ['does not match another text', ['a.c'], 'abc\n', false],
    ['matches any characters at "…" within a line', ['a … c'], 'a b c\n', true],
    ['matches any number of lines at the line "…"', ['a', '…', 'c'], 'a\nb\nb\nc\n', true],
    [
      'matches other times, and other values of a given pattern',
      ['at 2026-01-01T00:00:00Z on port 1'],
      'at 2027-01-01T00:00:00.5Z on port 22',
      true,
    ],
  ] as const;
  for (const [what, lines, output, expected] of cases)
    it(what, () => expect(isShown(lines, output)).to.equal(expected));

  it('matches lines of a log in any order', () => {
    expect(new PageOutput(['b', 'a']).isIn('a\nb\nc\n')).to.equal(true);
    expect(new PageOutput(['b', 'd']).isIn('a\nb\nc\n')).to.equal(false);
  });
});
