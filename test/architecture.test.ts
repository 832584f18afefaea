import { expect } from 'chai';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** A folder may import itself, `model`, `errors`, and the folders named here. Nothing else. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  native: [],
  document: [],
  catalogue: ['document'],
  license: [],
  rules: ['document'],
  config: ['document', 'rules'],
  exposition: ['catalogue'],
  streams: ['native', 'exposition'],
  partitions: ['native', 'streams', 'exposition', 'catalogue', 'pipeline'],
  sinks: [],
  simulator: ['native', 'catalogue'],
  bridge: ['native', 'catalogue', 'document', 'rules', 'log', 'log-writer'],
  demo: ['native', 'license'],
  exporter: [
    'config',
    'license',
    'native',
    'sinks',
    'log',
    'log-writer',
    'plan',
    'scope-warnings',
    'service',
  ],
};

const SHARED = ['model', 'errors'];

/** Words that may stand in some files only, each with the remedy. */
const WORDS: readonly { word: RegExp; only: RegExp; remedy: string }[] = [
  { word: /from '(ffi|ref)-napi'/, only: /^native\/libc\.ts$/, remedy: 'use native/libc.ts' },
  {
    word: /\bprocess\.\w/,
    only: /(^|\/)(cli|lifeline)\.ts$/,
    remedy: 'hand it in from cli.ts',
  },
  { word: /\bconsole\./, only: /(^|\/)cli\.ts$/, remedy: 'emit an event or throw a Fault' },
  { word: /\bDate\.now\b/, only: /(^|\/)cli\.ts$/, remedy: 'take a clock or a scheduler' },
  {
    word: /\.subscribe\(/,
    only: /(^|\/)(cli|thread)\.ts$/,
    remedy: 'return the Observable: only the top of a process or thread subscribes',
  },
  { word: /shareReplay/, only: /^$/, remedy: 'use share with its resets spelt out' },
  { word: /: any\b|\bas any\b/, only: /^$/, remedy: 'say what it is' },
  { word: /from 'prom-client'/, only: /^sinks\/self-metrics\.ts$/, remedy: 'only self-metrics' },
];

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.includes('/assembly/'))
  .sort();
const source = (file: string): string => readFileSync(join('src', file), 'utf8');
/** The files of src that a file imports, types included. */
const importsOf = (file: string): string[] =>
  [...source(file).matchAll(/from '(\.[^']+)\.js'/g)].map(([, path = '']) =>
    relative('src', resolve('src', dirname(file), `${path}.ts`)),
  );

describe('the architecture', () => {
  for (const [folder, others] of Object.entries(MAY_IMPORT)) {
    it(`${folder} reaches ${others.join(', ') || 'nothing'}`, () => {
      expect(existsSync(join('src', folder)), `src/${folder}`).to.equal(true);
      for (const file of files.filter((each) => each.startsWith(`${folder}/`)))
        for (const reached of importsOf(file)) {
          const top = reached.replace(/\.ts$/, '').split('/')[0];
          expect([folder, ...others, ...SHARED], `${file} imports ${reached}`).to.include(top);
        }
    });
  }

  it('every folder of src has a row in the table of imports', () => {
    const folders = readdirSync('src', { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(Object.keys(MAY_IMPORT)).to.have.members(folders);
  });

  it('nobody imports a cli', () => {
    for (const file of files)
      for (const reached of importsOf(file)) expect(reached, file).not.to.match(/(^|\/)cli\.ts$/);
  });

  it('imports have no cycles', () => {
    const done = new Set<string>();
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) expect.fail([...path, file].join(' -> '));
      if (done.has(file)) return;
      for (const next of importsOf(file)) visit(next, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
  });

  it('a thread reaches no foreign functions: they belong to the main thread', () => {
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      // Types are gone when it runs.
      const code = source(file).replaceAll(/^(import|export) type [^;]+;/gm, '');
      for (const [, path = ''] of code.matchAll(/from '(\.[^']+)\.js'/g))
        visit(relative('src', resolve('src', dirname(file), `${path}.ts`)));
    };
    visit('partitions/threads/thread.ts');
    expect([...reached]).to.include('exposition/kernel/kernel.ts');
    expect([...reached]).not.to.include('native/libc.ts');
  });

  for (const { word, only, remedy } of WORDS)
    it(`${word.source} stands only where it may: ${remedy}`, () => {
      for (const file of files)
        if (!only.test(file)) {
          const lines = source(file).split('\n');
          const found = lines.findIndex((line) => word.test(line) && !line.trim().startsWith('*'));
          expect(found, `src/${file}:${found + 1}`).to.equal(-1);
        }
    });

  it('every source file says on its first line what it is for', () => {
    for (const file of files) {
      const [first = '', second = ''] = source(file).split('\n');
      expect(first.startsWith('#!') ? second : first, file).to.match(/^\/\/ .{15}/);
    }
  });

  it('no file is named for no noun', () => {
    for (const file of files)
      expect(file).not.to.match(/(^|\/)(index|utils?|helpers?|common|manager|misc)\.ts$/);
  });

  it('package.json states exact versions, and the packages of the card are used', () => {
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
