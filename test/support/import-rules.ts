// The rules in ARCHITECTURE.md about which folder may import which, and a check of them.
import { posix } from 'node:path';

/** The folders and files that each folder may import, in addition to its own files. */
export type ImportRules = ReadonlyMap<string, readonly string[]>;

/** The text of each source file, by the file's path below src or tools. */
export type SourceFiles = ReadonlyMap<string, string>;

const HEADING = '| Folder | Holds | May import |';
const SHARED = [
  'model',
  'published',
  'source',
  'errors',
  'budget',
  'bytes',
  'clock',
  'limit-concurrency',
  'pluralize',
  'run-to-end',
  'thread-code',
];

/** Reads the table of folders. A cell lists folders, or files of src with their file extension. */
export function importRules(architecture: string): ImportRules {
  const lines = architecture.split('\n');
  const start = lines.indexOf(HEADING);
  const end = lines.indexOf('', start);
  if (start < 0 || end < 0) throw new Error(`no table "${HEADING}" in ARCHITECTURE.md`);
  const rules = new Map<string, readonly string[]>();
  for (const line of lines.slice(start + 2, end)) {
    const [, folders = '', , mayImport = ''] = line.split('|');
    const others = [...mayImport.matchAll(/`?([\w-]+)(?:\.ts)?`?/g)].map(([, name = '']) => name);
    for (const [, folder = ''] of folders.matchAll(/`([\w-]+)`/g)) rules.set(folder, others);
  }
  return rules;
}

/**
 * Returns the paths, below src or tools, of the files that a file imports, including its type-only imports.
 */
export const importsOf = (file: string, source: string): string[] =>
  [...source.matchAll(/(?:from|import\() ?'(\.|#app\/)([^']+)\.js'/g)].map(
    ([, start = '', path = '']) =>
      posix.join(start === '.' ? posix.dirname(file) : '', `${start === '.' ? '.' : ''}${path}.ts`),
  );

/** Returns one sentence for each import that the rules forbid, and for each folder without a rule. */
export function forbiddenImports(files: SourceFiles, rules: ImportRules): string[] {
  const top = (file: string) => file.replace(/\.ts$/, '').split('/')[0] ?? '';
  return [...files].flatMap(([file, source]) => {
    if (!file.includes('/')) return [];
    const allowed = rules.get(top(file));
    if (allowed === undefined) return [`${file} lies in a folder without a row in the table`];
    return importsOf(file, source)
      .filter((reached) => ![top(file), ...allowed, ...SHARED].includes(top(reached)))
      .map((reached) => `${file} imports ${reached}`);
  });
}

/** Returns the first import cycle as a path, or undefined if there is none. */
export function importCycle(files: SourceFiles): string | undefined {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string | undefined => {
    if (path.includes(file)) return [...path, file].join(' -> ');
    if (done.has(file)) return undefined;
    for (const next of importsOf(file, files.get(file) ?? '')) {
      const cycle = visit(next, [...path, file]);
      if (cycle !== undefined) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of files.keys()) {
    const cycle = visit(file, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
