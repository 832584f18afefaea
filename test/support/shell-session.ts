// An interactive shell that runs commands one after the other, some of them in the background.
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { waitFor } from './processes.js';

const COMMAND_MS = 170_000;
const END_MS = 10_000;

/** A command that runs in the background. */
export interface Started {
  /** Its output so far, stdout and stderr. */
  readonly output: () => string;
}

/** The exit status of a command and its output, both stdout and stderr. */
export interface Ran {
  readonly status: number;
  readonly output: string;
}

export class ShellSession {
  readonly #shell: ChildProcessWithoutNullStreams;
  readonly #notes: string;
  /** The exit statuses that the shell has reported, one per command. */
  readonly #statuses: number[] = [];
  #count = 0;

  /**
   * @param folder the working directory at the start
   * @param notes a folder for files with the commands and their output
   * @param under the command line of a program that runs the shell
   */
  constructor(
    folder: string,
    notes: string,
    env: NodeJS.ProcessEnv,
    under: readonly string[] = [],
  ) {
    this.#notes = notes;
    // A new process group. It includes the processes that the commands start in the background.
    const options = { cwd: folder, env, detached: true } as const;
    const [program, ...words] = [...under, 'bash', '--noprofile', '--norc'];
    this.#shell = spawn(program, words, options);
    const lines = createInterface({ input: this.#shell.stdout });
    lines.on('line', (line) => this.#statuses.push(Number(line)));
    this.#shell.stdin.on('error', () => undefined);
  }

  /** Runs a command to its end in the shell itself, so that the effects of `cd` and variables persist. */
  async run(command: string): Promise<Ran> {
    const [script, output] = this.#note(command);
    const before = this.#statuses.length;
    this.#shell.stdin.write(`. ${script} >${output} 2>&1 </dev/null; echo $?\n`);
    const text = () => readFileSync(output, 'utf8');
    const status = await waitFor(
      `the end of ${command}`,
      () => {
        if (this.#shell.exitCode !== null) throw new Error(`The shell ended: ${text()}`);
        return this.#statuses[before];
      },
      COMMAND_MS,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${text()}`);
    });
    return { status, output: text() };
  }

  /** Starts a command in the background, as a user would in another terminal. */
  start(command: string): Started {
    const [script, output] = this.#note(command);
    writeFileSync(output, '');
    this.#shell.stdin.write(`( . ${script} ) >${output} 2>&1 </dev/null &\n`);
    return { output: () => readFileSync(output, 'utf8') };
  }

  /** Ends the shell and all processes that it started. */
  async end(): Promise<void> {
    this.#signal('SIGTERM');
    const isOver = () => (this.#members().length === 0 ? true : undefined);
    await waitFor('the end of the session', isOver, END_MS).catch(() => {
      this.#signal('SIGKILL');
    });
    await waitFor('the end of the session', isOver, END_MS);
  }

  #note(command: string): [script: string, output: string] {
    const name = join(this.#notes, String(++this.#count));
    writeFileSync(`${name}.sh`, `${command}\n`);
    return [`${name}.sh`, `${name}.out`];
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#members().length > 0) process.kill(-(this.#shell.pid ?? 0), signal);
  }

  /** The processes of the session that have not ended. */
  #members(): string[] {
    return readdirSync('/proc').filter((pid) => {
      const [, state, group] = /\) (\w) \d+ (\d+)/.exec(/^\d/.test(pid) ? statOf(pid) : '') ?? [];
      return Number(group) === this.#shell.pid && state !== 'Z';
    });
  }
}

/** Returns the status of a process from /proc, or '' once the process has ended. */
function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}
