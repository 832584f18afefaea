// Tests a page of the documentation: saves its files, runs its commands in order in one terminal, and compares
// their output with the page.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { commandsOf, pageBlocks } from './page-blocks.js';
import type { PageBlock, PageCommand } from './page-blocks.js';
import { PageFolder, REPLACES_PACKAGES, reworded } from './page-folder.js';
import { PageOutput } from './page-output.js';
import { waitFor } from './processes.js';
import type { ShellSession } from './shell-session.js';
import { needs, needsPrograms } from './needs.js';

type ByBeginning<T> = Readonly<Record<string, T>>;

/**
 * How to test a page. The key in a `ByBeginning` table is the beginning of a block, or of a prompt and its
 * command.
 */
export interface PageTable {
  /** The working directory of the page's commands. Default: the source folder. */
  readonly folder?: 'sources' | 'empty';
  /** `real` for the machine's npx. Default: a fast script that runs the linked programs. */
  readonly npx?: 'real' | 'links';
  /** Required programs; the page is skipped if one is not installed. */
  readonly needs?: readonly string[];
  /** Further requirements, and the reason to skip the page without each. */
  readonly holds?: readonly (readonly [holds: () => boolean, reason: string])[];
  /** The command line of a program that runs the terminal, such as `unshare`. */
  readonly under?: readonly string[];
  /** Scripts that take the place of programs, by name. */
  readonly programs?: Readonly<Record<string, string>>;
  /** Commands to run before the page's first command, and what each prints once it is ready. */
  readonly given?: ByBeginning<RegExp>;
  /** Words of the page and their replacements in the test: ports, server keys, an editor. */
  readonly words?: () => Promise<Readonly<Record<string, string>>>;
  /** Commands that run until a signal ends them, and what each prints once the next command may run. */
  readonly stays?: ByBeginning<RegExp>;
  /** Headings at which all running commands end. */
  readonly endsAt?: readonly string[];
  /** Blocks that no command uses, and a check of each. */
  readonly checks?: ByBeginning<(text: string, folder: PageFolder) => void | Promise<void>>;
  /** Blocks and commands that cannot run on a bare machine, and the reason. */
  readonly unrun?: ByBeginning<string>;
  /** More patterns of texts that differ between runs; they need the flag g. */
  readonly varies?: readonly RegExp[];
}

const TERMINALS = ['console', 'sh'];
const textOf = ({ lines }: PageBlock): string => `${lines.join('\n')}\n`;
const shown = ({ prompt, command }: PageCommand): string => `${prompt} ${command}\n`;

/** Returns the entry whose key is the longest beginning of the text. */
const entryOf = <T>(table: ByBeginning<T> = {}, text: string): [string, T] | undefined =>
  Object.entries(table)
    .filter(([beginning]) => text.startsWith(beginning))
    .sort(([a], [b]) => b.length - a.length)[0];

/** Defines the tests of a page. */
export function readsPage(page: string, table: PageTable): void {
  describe(page, function () {
    this.timeout(200_000).slow(10_000);
    const blocks = pageBlocks(readFileSync(page, 'utf8'));
    const reader = new PageReader(table);
    before(function () {
      needsPrograms(this, ...(table.needs ?? []));
      for (const [holds, reason] of table.holds ?? []) needs(this, holds(), reason);
    });
    before(() => reader.open());
    after(() => reader.close());
    // After a failed step, skip all later steps, because they depend on it.
    let hasFailed = false;
    beforeEach(function () {
      needs(this, !hasFailed, 'an earlier step of the page failed');
    });
    afterEach(function () {
      hasFailed ||= this.currentTest?.state === 'failed';
    });

    for (const block of blocks) defineBlock(block, blocks, table, reader);

    it('contains every command, block and heading that this test names', () => {
      const texts = blocks.flatMap((block) => [
        textOf(block),
        ...(TERMINALS.includes(block.language) ? commandsOf(block).map(shown) : []),
      ]);
      const { stays, checks, unrun, endsAt = [] } = table;
      const used = Object.keys({ ...stays, ...checks, ...unrun });
      expect(used.filter((each) => !texts.some((text) => text.startsWith(each)))).to.be.empty;
      expect(blocks.map(({ heading }) => heading)).to.include.members([...endsAt]);
    });
  });
}

function defineBlock(
  block: PageBlock,
  blocks: readonly PageBlock[],
  table: PageTable,
  reader: PageReader,
): void {
  const { language, line, file } = block;
  const text = textOf(block);
  const [, check] = entryOf(table.checks, text) ?? [];
  if (check !== undefined)
    it(`has a correct block at line ${line}, which begins: ${block.lines[0] ?? ''}`, () =>
      reader.check(text, check));
  else if (entryOf(table.unrun, text) !== undefined) return;
  else if (TERMINALS.includes(language)) {
    for (const command of commandsOf(block))
      if (entryOf(table.unrun, shown(command)) === undefined)
        it(`has a working command at line ${command.line}: ${shown(command).trimEnd()}`, () =>
          reader.run(command, block.heading));
  } else
    it(`has at line ${line} a file that later blocks need: ${file ?? 'without a name'}`, () => {
      expect(file, `what to do with the block of line ${line}`).not.to.equal(undefined);
      const name = file ?? '';
      reader.save(name, text);
      const isUsed = blocks.some(
        (other) => other.line > line && textOf(other).includes(name.replace(/\.[^.]+$/, '')),
      );
      expect(isUsed, `a command that uses ${name}`).to.equal(true);
    });
}

class PageReader {
  readonly #table: PageTable;
  #words: ReadonlyMap<string, string> = new Map();
  #folder: PageFolder | undefined;
  #session: ShellSession | undefined;
  #heading = '';

  constructor(table: PageTable) {
    this.#table = table;
  }

  async open(): Promise<void> {
    this.#words = new Map(Object.entries((await this.#table.words?.()) ?? {}));
    const { folder = 'sources', npx, programs, under } = this.#table;
    this.#folder = new PageFolder(folder, this.#words, { npx, programs, under });
    this.#session = this.#folder.session();
    for (const [command, until] of Object.entries(this.#table.given ?? {}))
      await this.#start(this.#session, command, until, new PageOutput([]));
  }

  async close(): Promise<void> {
    await this.#folder?.close();
  }

  save(name: string, text: string): void {
    this.#opened.write(name, reworded(text, this.#words));
  }

  async check(
    text: string,
    check: (text: string, folder: PageFolder) => void | Promise<void>,
  ): Promise<void> {
    await check(text, this.#opened);
  }

  async run(command: PageCommand, heading: string): Promise<void> {
    const session = await this.#sessionAt(heading);
    const lines = command.output.map((line) => reworded(line, this.#words));
    const output = new PageOutput(lines, this.#table.varies);
    const [, until] = entryOf(this.#table.stays, shown(command)) ?? [];
    if (until !== undefined) return this.#start(session, command.command, until, output);
    const words = reworded(command.command, this.#words);
    if (this.#table.folder !== 'empty') expect(words).not.to.match(REPLACES_PACKAGES);
    const { status, output: printed } = await session.run(words);
    expect(status, printed).to.equal(0);
    if (output.isShown) output.check(printed);
  }

  /** Starts a command that runs until a signal, and waits for its output. */
  async #start(
    session: ShellSession,
    command: string,
    until: RegExp,
    output: PageOutput,
  ): Promise<void> {
    const started = session.start(reworded(command, this.#words));
    const isThere = () => output.isIn(started.output()) && until.test(started.output());
    await waitFor(command, () => (isThere() ? true : undefined)).catch(() => {
      if (output.isShown) output.check(started.output());
      throw new Error(`${command} printed no ${until.source}:\n${started.output()}`);
    });
  }

  /** Returns the terminal. It opens a new one at each heading of `endsAt`. */
  async #sessionAt(heading: string): Promise<ShellSession> {
    const isNew = heading !== this.#heading && this.#table.endsAt?.includes(heading) === true;
    this.#heading = heading;
    if (isNew || this.#session === undefined) {
      await this.#session?.end();
      this.#session = this.#opened.session();
    }
    return this.#session;
  }

  get #opened(): PageFolder {
    if (this.#folder === undefined) throw new Error('The page is not open');
    return this.#folder;
  }
}
