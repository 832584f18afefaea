// The rules in ARCHITECTURE.md about which folder of src may import which, and a check of them.
import { posix } from 'node:path';

/** What a folder may import beside itself, by folder. */
export type ImportRules = ReadonlyMap<string, readonly string[]>;

/** Source files by their path below src or tools. */
export type SourceFiles = ReadonlyMap<string, string>;

const HEADING = '| Folder | Holds | May import |';
const SHARED = [
  'model',
  'published',
  'errors',
  'budget',
  'bytes',
  'clock',
  'pluralize',
  'thread-code',
];

/** Reads the table of folders; a cell lists folders, or files of src with their ending. */
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

/** The files that a file imports, types included, by their path below src or tools. */
export const importsOf = (file: string, source: string): string[] =>
  [...source.matchAll(/(?:from|import\() ?'(\.|#app\/)([^']+)\.js'/g)].map(
    ([, start = '', path = '']) =>
      posix.join(start === '.' ? posix.dirname(file) : '', `${start === '.' ? '.' : ''}${path}.ts`),
  );

/** One sentence for each import that the rules do not allow, and each folder without a rule. */
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

/** The first cycle of imports, as a path; undefined where there is none. */
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
