// The folder in which a page's commands run. It is a copy of the sources or empty, and the programs are on
// PATH.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PROJECT } from './processes.js';
import { ShellSession } from './shell-session.js';

const SHM = '/dev/shm';
/** Source folders in whose files ports and server keys are replaced. */
const REWORDED = ['examples', 'deploy', 'sdk'];
/** Files and folders to copy. They include `dist`, which has the programs. */
const COPIED = [...REWORDED, 'dist', 'package.json'];
/** Files that a reader who follows the pages creates in the source folder. They are also in `.gitignore`. */
const MADE_BY_PAGES = ['try', 'license.json'];
const PROGRAMS = ['shm_bridge', 'shm_dump', 'shm_exporter', 'shm_license', 'shm_simulator'];

/** Stands in for npx: runs a program from the folder's packages, or one of PROGRAMS. */
const NPX = `#!/bin/sh
name=$1
shift
[ ! -x "node_modules/.bin/$name" ] || exec "node_modules/.bin/$name" "$@"
exec "$name" "$@"
`;

/**
 * Commands that would replace the packages installed for the sources, because the page's folder only has a
 * link to these packages.
 */
export const REPLACES_PACKAGES = /\bnpm (?:ci|i|install|uninstall|prune|update)\b/;

/** Replaces whole words of a text: for example `9464`, but not the same digits within `19464`. */
export function reworded(text: string, words: ReadonlyMap<string, string>): string {
  let changed = text;
  for (const [word, other] of words) {
    const literal = word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    changed = changed.replace(new RegExp(`(?<!\\w)${literal}(?!\\w)`, 'g'), () => other);
  }
  return changed;
}

interface PageFolderOptions {
  /** `real` for the machine's npx; `links`, the default, for a fast script that runs the linked programs. */
  readonly npx?: 'real' | 'links' | undefined;
  /** Scripts that take the place of programs, by name. */
  readonly programs?: Readonly<Record<string, string>> | undefined;
  /** The command line of a program that runs the terminals. */
  readonly under?: readonly string[] | undefined;
}

export class PageFolder {
  readonly #base = mkdtempSync(join(tmpdir(), 'shm-page-'));
  readonly #before = new Set(readdirSync(SHM));
  readonly #words: ReadonlyMap<string, string>;
  readonly #sessions: ShellSession[] = [];

  readonly #under: readonly string[];

  /** @param words the words to replace in the copied files, and their replacements */
  constructor(
    kind: 'sources' | 'empty',
    words: ReadonlyMap<string, string>,
    { npx = 'links', programs = {}, under = [] }: PageFolderOptions = {},
  ) {
    this.#words = words;
    this.#under = under;
    for (const name of ['bin', 'home', 'notes', 'page']) mkdirSync(join(this.#base, name));
    for (const program of PROGRAMS) {
      const script = `#!/bin/sh\nexec node '${join(PROJECT, 'dist/bin', program)}.js' "$@"\n`;
      writeFileSync(join(this.#base, 'bin', program), script, { mode: 0o755 });
    }
    for (const [name, script] of Object.entries({
      ...(npx === 'links' && { npx: NPX }),
      ...programs,
    }))
      writeFileSync(join(this.#base, 'bin', name), script, { mode: 0o755 });
    if (kind === 'sources') this.#fill();
  }

  path(name: string): string {
    return join(this.#base, 'page', name);
  }

  /** Writes a file of the page. */
  write(name: string, text: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  /** Opens a terminal in the folder, without access to a package registry. */
  session(): ShellSession {
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
    const env = {
      ...Object.fromEntries(own),
      HOME: join(this.#base, 'home'),
      PATH: `${join(this.#base, 'bin')}:${process.env['PATH'] ?? ''}`,
      npm_config_offline: 'true',
      // Without this setting, npx would build the folder again.
      npm_config_ignore_scripts: 'true',
      npm_config_update_notifier: 'false',
    };
    const session = new ShellSession(this.path(''), join(this.#base, 'notes'), env, this.#under);
    this.#sessions.push(session);
    return session;
  }

  /** Ends all sessions. Removes the folder, and leftover segments that have the page's server keys. */
  async close(): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.end()));
    // If a replacement has several words, the last one is the server key.
    const keys = [...this.#words.values()].map((words) => words.split(/[ =]/).at(-1) ?? words);
    // The pid follows a key that ends in a hyphen.
    const hasKey = (name: string, key: string) =>
      key.endsWith('-') ? name.includes(`.${key}`) : name.endsWith(`.${key}`);
    const isOurs = (name: string) =>
      !this.#before.has(name) && keys.some((key) => hasKey(name, key));
    for (const name of readdirSync(SHM).filter(isOurs)) rmSync(join(SHM, name));
    rmSync(this.#base, { recursive: true });
  }

  #fill(): void {
    for (const name of readdirSync(PROJECT)) {
      if (MADE_BY_PAGES.includes(name)) continue;
      const [from, to] = [join(PROJECT, name), this.path(name)];
      if (!COPIED.includes(name)) symlinkSync(from, to);
      else cpSync(from, to, { recursive: true });
    }
    for (const folder of REWORDED)
      for (const name of readdirSync(this.path(folder), { recursive: true, encoding: 'utf8' }))
        this.#reword(join(this.path(folder), name));
  }

  #reword(file: string): void {
    if (!/\.(?:toml|ya?ml|service|py)$/.test(file) || !statSync(file).isFile()) return;
    writeFileSync(file, reworded(readFileSync(file, 'utf8'), this.#words));
  }
}
