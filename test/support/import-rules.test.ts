import { expect } from 'chai';
import { forbiddenImports, importCycle, importRules } from './import-rules.js';

const PAGE = `# Architecture

| Folder | Holds | May import |
|---|---|---|
| \`sinks\` | ends | – |
| \`native\` | bytes | streams, \`log.ts\` |

Text.
`;

describe('the rules of imports', () => {
  const rules = importRules(PAGE);
  const forbidden = (file: string, source: string) =>
    forbiddenImports(new Map([[file, source]]), rules);

  it('match the imports of the source files', () =>
    expect([...rules]).to.deep.equal([
      ['sinks', []],
      ['native', ['streams', 'log']],
    ]));

  it('reject a page without the table', () =>
    expect(() => importRules('# Architecture\n')).to.throw('no table'));

  const allowed = [
    ["import { a } from './a.js';", 'a file of the same folder'],
    ["import { a } from '../sinks/deep/a.js';", 'the own folder by its name'],
    ["import type { A } from '../model.js';", 'what is for all'],
    ["import { a } from 'rxjs';", 'a package'],
  ] as const;
  for (const [source, what] of allowed)
    it(`allow ${what}`, () => expect(forbidden('sinks/b.ts', source)).to.deep.equal([]));

  it('allow the folders and files that the table names', () => {
    const source = "import { a } from '../../streams/a.js';\nimport { b } from '../../log.js';";
    expect(forbidden('native/os/b.ts', source)).to.deep.equal([]);
  });

  const planted = [
    ["import { a } from '../native/a.js';", 'sinks/b.ts imports native/a.ts'],
    ["import type { A } from '../native/a.js';", 'sinks/b.ts imports native/a.ts'],
    ["export { a } from '../streams/a.js';", 'sinks/b.ts imports streams/a.ts'],
    ["const a = await import('../native/os/a.js');", 'sinks/b.ts imports native/os/a.ts'],
    ["import { a } from '../service.js';", 'sinks/b.ts imports service.ts'],
  ] as const;
  for (const [source, sentence] of planted)
    it(`find ${source}`, () => expect(forbidden('sinks/b.ts', source)).to.deep.equal([sentence]));

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
