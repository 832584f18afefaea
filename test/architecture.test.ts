import { expect } from 'chai';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { forbiddenImports, importCycle, importRules, importsOf } from './support/import-rules.js';

/** Words that only some files may contain. The remedy says what to use elsewhere. */
const WORDS: readonly { word: RegExp; only: RegExp; remedy: string }[] = [
  {
    word: /from '(ffi|ref)-napi\b/,
    only: /^native\/os\/libc\.ts$/,
    remedy: 'use native/os/libc.ts',
  },
  {
    word: /\bprocess\.\w/,
    // The publisher library runs in other programs, and closes its segments when these exit.
    // It loads its addon itself, since bundlers replace `require`.
    only: /(^|\/)(cli|main|end-with-parent)\.ts$|^native\/(publisher\/(prom-client|metrics\/session)|os\/addon)\.ts$/,
    remedy: 'pass it from cli.ts',
  },
  {
    word: /from 'node:process'/,
    only: /^$/,
    remedy:
      'use the global process: the module opens stdin, stdout and stderr, and makes their pipes non-blocking',
  },
  {
    word: /\bprocess\.(stdout|stderr)\b/,
    only: /^$/,
    remedy: 'use stdio',
  },
  {
    word: /\bconsole\./,
    // The publisher library runs in other programs and does not know their logger, so it warns on the
    // console.
    only: /(^|\/)cli\.ts$|^native\/publisher\/publisher\.ts$/,
    remedy: 'emit an event or throw a Fault',
  },
  {
    word: /\b(fchmod|fchown|lchmod|lchown|futimes)Sync\b/,
    only: /^$/,
    remedy: "call os/libc.ts: Node's permission model refuses these functions",
  },
  { word: /\bDate\.now\b/, only: /(^|\/)(cli|clock)\.ts$/, remedy: 'take a clock or a scheduler' },
  {
    word: /\.subscribe\(/,
    only: /(^|\/)(cli|thread)\.ts$/,
    remedy: 'return the Observable: only the top of a process or thread subscribes',
  },
  {
    word: /from '.*\/clock\.js'|performance\.now|hrtime/,
    only: /^(?!exposition\/)|^exposition\/target-view\.ts$/,
    remedy: 'rendering reads no clock: take steps from a Budget',
  },
  {
    word: /\bmmap\b|O_RDWR|O_WRONLY|\b(write|writev|truncate|ftruncate)Sync\b/,
    only: /^(?!(streams|exposition|foreign|multiprocess|hsperfdata|varnish|native\/segment)\/)/,
    remedy: 'a reader never writes to shared memory and never maps values',
  },
  { word: /shareReplay/, only: /^$/, remedy: 'use share with explicit resets' },
  { word: /: any\b|\bas any\b/, only: /^$/, remedy: 'state the type' },
  { word: /from 'prom-client'/, only: /^sinks\/self-metrics\.ts$/, remedy: 'only self-metrics' },
];

/** Both folders are built into the same folder, so the path of a file below them must be unique. */
const FOLDERS = ['src', 'tools'];

const files = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }),
)
  .filter((file) => file.endsWith('.ts') && !file.includes('/assembly/'))
  .sort();
const pathOf = (file: string): string =>
  FOLDERS.map((folder) => join(folder, file)).find((path) => existsSync(path)) ?? file;
const source = (file: string): string => readFileSync(pathOf(file), 'utf8');
const sources = new Map(files.map((file) => [file, source(file)]));

describe('the source code', () => {
  const rules = importRules(readFileSync('ARCHITECTURE.md', 'utf8'));

  it('has only imports that the table of ARCHITECTURE.md allows', () =>
    expect(forbiddenImports(sources, rules)).to.deep.equal([]));

  it('has exactly the folders in the table of ARCHITECTURE.md', () => {
    const folders = FOLDERS.flatMap((each) => readdirSync(each, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect([...rules.keys()]).to.have.members(folders);
  });

  it('uses each import that the table allows', () => {
    for (const [folder, others] of rules) {
      const reached = [...sources]
        .filter(([file]) => file.startsWith(`${folder}/`))
        .flatMap(([file, text]) => importsOf(file, text))
        .map((file) => file.replace(/\.ts$/, '').split('/')[0]);
      expect(reached, `what ${folder} imports`).to.include.members(others);
    }
  });

  it('imports no cli.ts outside exporter/main.ts', () => {
    for (const [file, text] of [...sources].filter(([each]) => each !== 'exporter/main.ts'))
      for (const reached of importsOf(file, text))
        expect(reached, file).not.to.match(/(^|\/)cli\.ts$/);
  });

  it('has no import cycles', () => expect(importCycle(sources)).to.equal(undefined));

  it('calls functions of libc only in the main thread', () => {
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      // Ignore type imports, which do not exist at run time.
      const code = source(file).replaceAll(/^(import|export) type [^;]+;/gm, '');
      for (const [, path = ''] of code.matchAll(/from '(\.[^']+)\.js'/g))
        visit(relative('src', resolve('src', dirname(file), `${path}.ts`)));
    };
    visit('targets/threads/thread.ts');
    expect([...reached]).to.include('exposition/wasm/kernel.ts');
    expect([...reached]).not.to.include('native/os/libc.ts');
  });

  for (const { word, only, remedy } of WORDS)
    it(`has code that matches /${word.source}/ only in allowed files (remedy: ${remedy})`, () => {
      for (const file of files)
        if (!only.test(file)) {
          const lines = source(file).split('\n');
          const found = lines.findIndex((line) => word.test(line) && !line.trim().startsWith('*'));
          expect(found, `${pathOf(file)}:${found + 1}`).to.equal(-1);
        }
    });

  it('states the purpose of each file on its first line', () => {
    for (const file of files) {
      const [first = '', second = ''] = source(file).split('\n');
      expect(first.startsWith('#!') ? second : first, file).to.match(/^\/\/ .{15}/);
    }
  });

  it('has no file with a name that says nothing, such as utils', () => {
    for (const file of files)
      expect(file).not.to.match(/(^|\/)(index|utils?|helpers?|common|manager|misc)\.ts$/);
  });

  it('has dependencies with exact versions, and uses each of them', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
      dependencies: Record<string, string>;
      devDependencies: Record<string, string>;
    };
    const { dependencies, devDependencies } = manifest;
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect(version, name).to.match(/^(npm:@[\w./-]+@)?\d+\.\d+\.\d+$/);
    const all = files.map(source).join('\n');
    for (const name of Object.keys(dependencies)) expect(all, name).to.include(`from '${name}'`);
  });
});
