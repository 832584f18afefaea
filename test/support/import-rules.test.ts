import { expect } from 'chai';
import { forbiddenImports, importCycle, importRules } from './import-rules.js';

const PAGE = `# Architecture

| Folder | Holds | May import |
|---|---|---|
| \`sinks\` | ends | – |
| \`native\` | bytes | streams, \`log.ts\` |

Text.
`;

describe('the import rules', () => {
  const rules = importRules(PAGE);
  const forbidden = (file: string, source: string) =>
    forbiddenImports(new Map([[file, source]]), rules);

  it('are read from the table of a page', () =>
    expect([...rules]).to.deep.equal([
      ['sinks', []],
      ['native', ['streams', 'log']],
    ]));

  it('cannot be read from a page without the table', () =>
    expect(() => importRules('# Architecture\n')).to.throw('no table'));

  const allowed = [
    ["import { a } from './a.js';", 'an import of a file of the same folder'],
    ["import { a } from '../sinks/deep/a.js';", 'an import of the same folder by its name'],
    ["import type { A } from '../model.js';", 'an import of a file that every folder may import'],
    ["import { a } from 'rxjs';", 'an import of a package'],
  ] as const;
  for (const [source, what] of allowed)
    it(`allow ${what}`, () => expect(forbidden('sinks/b.ts', source)).to.deep.equal([]));

  it('allow imports of the folders and files that the table names', () => {
    const source = "import { a } from '../../streams/a.js';\nimport { b } from '../../log.js';";
    expect(forbidden('native/os/b.ts', source)).to.deep.equal([]);
  });

  const planted = [
    ['an import', "import { a } from '../native/a.js';", 'sinks/b.ts imports native/a.ts'],
    [
      'an import of a type',
      "import type { A } from '../native/a.js';",
      'sinks/b.ts imports native/a.ts',
    ],
    ['a re-export', "export { a } from '../streams/a.js';", 'sinks/b.ts imports streams/a.ts'],
    [
      'a dynamic import',
      "const a = await import('../native/os/a.js');",
      'sinks/b.ts imports native/os/a.ts',
    ],
    [
      'an import of a file of another folder',
      "import { a } from '../service.js';",
      'sinks/b.ts imports service.ts',
    ],
  ] as const;
  for (const [what, source, sentence] of planted)
    it(`reject ${what} if the table does not allow it`, () =>
      expect(forbidden('sinks/b.ts', source)).to.deep.equal([sentence]));

  it('report a folder without a row', () =>
    expect(forbidden('drawer/a.ts', '')).to.deep.equal([
      'drawer/a.ts lies in a folder without a row in the table',
    ]));

  it('report the path of a cycle', () => {
    const files = new Map([
      ['a/a.ts', "import { b } from '../b/b.js';"],
      ['b/b.ts', "import { c } from './c.js';"],
      ['b/c.ts', "import { a } from '../a/a.js';"],
    ]);
    expect(importCycle(files)).to.equal('a/a.ts -> b/b.ts -> b/c.ts -> a/a.ts');
    files.set('b/c.ts', '');
    expect(importCycle(files)).to.equal(undefined);
  });
});
