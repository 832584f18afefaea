// Tests the exact messages about invalid TOML, with line and caret.
import { expect } from 'chai';
import { withoutExcerpts } from '#app/document/document.js';
import { parseToml } from '#app/document/toml-file.js';
import { faultMessage } from '../support/fault-message.js';

describe('TOML syntax errors', () => {
  const table: readonly (readonly [toml: string, message: string, line: string, caret: string])[] =
    [
      [
        'a = ',
        '1:5: expected a value (strings need quotes), found the end of the file',
        'a =',
        '    ^',
      ],
      [
        'a = 1\nb = \n',
        '2:5: expected a value (strings need quotes), found the end of the line',
        'b =',
        '    ^',
      ],
      [
        'app = ads',
        '1:7: expected a value (strings need quotes), found "a"',
        'app = ads',
        '      ^',
      ],
      [
        'a = "x',
        '1:7: expected the closing quote of the string, found the end of the file',
        'a = "x',
        '      ^',
      ],
      [
        "a = 'x",
        '1:7: expected the closing quote of the string, found the end of the file',
        "a = 'x",
        '      ^',
      ],
      [
        'a = """x',
        '1:9: expected the closing """ of the string, found the end of the file',
        'a = """x',
        '        ^',
      ],
      [
        "a = '''x",
        "1:9: expected the closing ''' of the string, found the end of the file",
        "a = '''x",
        '        ^',
      ],
      ['a = [1,', '1:8: expected a value or "]", found the end of the file', 'a = [1,', '       ^'],
      ['a = ["x" "y"]', '1:10: expected "," or "]", found "\\""', 'a = ["x" "y"]', '         ^'],
      ['a = {b=1 c}', '1:10: expected "," or "}", found "c"', 'a = {b=1 c}', '         ^'],
      ['a = {,}', '1:6: expected a key or "}", found ","', 'a = {,}', '     ^'],
      [
        'metrics_port 9464',
        '1:14: expected "=" after the key, found "9"',
        'metrics_port 9464',
        '             ^',
      ],
      ['a=1 b=2', '1:5: expected the end of the line, found "b"', 'a=1 b=2', '    ^'],
      [
        '[targets',
        '1:9: expected "]" after the table name, found the end of the file',
        '[targets',
        '        ^',
      ],
      ['[]', '1:2: expected a key, found "]"', '[]', ' ^'],
      ['= 1', '1:1: expected a key or a table header, found "="', '= 1', '^'],
      ['a = +', '1:6: expected a number, found the end of the file', 'a = +', '     ^'],
      [
        'a = 01',
        '1:7: expected a number without leading zeros, a date or a time, found the end of the file',
        'a = 01',
        '      ^',
      ],
      [
        'a = 1.',
        '1:7: expected the rest of a number, date or time, found the end of the file',
        'a = 1.',
        '      ^',
      ],
      [
        'a = 1\rb = 2\r',
        '1:6: found a carriage return without a line feed, needed: lines that end with "\\n" or "\\r\\n"',
        'a = 1 b = 2',
        '     ^',
      ],
      [
        'a = 1 # b\r\nc = "d\re"',
        '2:7: found a carriage return without a line feed, needed: lines that end with "\\n" or "\\r\\n"',
        'c = "d e"',
        '      ^',
      ],
      ['a = 1\na = 2', "2:1: cannot redefine existing key 'a'", 'a = 2', '^'],
      ['a = "\\q"', '1:6: invalid escape sequence', 'a = "\\q"', '     ^'],
      [
        'a = 1\r\nb = x\r\n',
        '2:5: expected a value (strings need quotes), found "x"',
        'b = x',
        '    ^',
      ],
      ['\ta = 3 $', '1:8: expected the end of the line, found "$"', ' a = 3 $', '       ^'],
      ['a = "😀é" x', '1:10: expected the end of the line, found "x"', 'a = "😀é" x', '         ^'],
      ['a\u001b = 1', '1:2: expected "=" after the key, found "\\u001b"', 'a  = 1', ' ^'],
    ];

  for (const [toml, message, line, caret] of table)
    it(`have position, message, line and caret for ${JSON.stringify(toml)}`, () => {
      const said = faultMessage('CONFIG_INVALID', () => parseToml('c.toml', toml));
      expect(said).to.equal(`c.toml:${message}\n  ${line}\n  ${caret}`);
      expect(withoutExcerpts(`${said}\nd.toml: b`)).to.deep.equal([
        `c.toml:${message}`,
        'd.toml: b',
      ]);
    });

  it('show only the surroundings of the error in a long line', () => {
    const message = faultMessage('CONFIG_INVALID', () =>
      parseToml('c.toml', `a = "${'x'.repeat(5000)}" y${' '.repeat(5000)}z`),
    );
    const [sentence, line = '', caret = ''] = message.split('\n');
    expect(sentence).to.equal('c.toml:1:5008: expected the end of the line, found "y"');
    expect(line).to.have.lengthOf.at.most(102);
    expect(line[caret.indexOf('^')]).to.equal('y');
  });

  for (const [text, message] of [
    ['users:\n  alice: secret', '1:6: users: expected "=" after the key, found ":"'],
    ['alice: secret', '1:6: alice: expected "=" after the key, found ":"'],
    ['a@b.c: secret', '1:2: expected "=" after the key, found "@"'],
    ['{users: {alice: secret}}', '1:1: users: expected a key or a table header, found "{"'],
    ['{"users": {"alice": "secret"}}', '1:1: users: expected a key or a table header, found "{"'],
    ['- secret', '1:3: expected "=" after the key, found "s"'],
  ] as const)
    it(`show the position and the key, but not the line, for ${JSON.stringify(text)}`, () =>
      expect(faultMessage('CONFIG_INVALID', () => parseToml('c.toml', text))).to.equal(
        `c.toml:${message}; this looks like YAML or JSON, needed: TOML`,
      ));

  it('report deep nesting before the stack overflows', () =>
    expect(
      faultMessage('CONFIG_INVALID', () => parseToml('c.toml', `a = ${'['.repeat(100_000)}`)),
    ).to.match(/^c\.toml:1:69: maximum nesting depth of 64 exceeded\n/));
});
