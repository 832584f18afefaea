// Processes that answer with the pages that the libraries themselves make of directories.
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { MetricLibrary } from '../support/metric-libraries.js';
import { RUBY, environmentOf } from '../support/metric-libraries.js';
import { PROJECT } from '../support/processes.js';

/** A directory on disk, or files in memory in the order in which the library reads them. */
export type Asked = { readonly path: string } | { readonly files: ReadonlyMap<string, Buffer> };

/** The page of the library; or its error, which means that a scrape of the application would have no page. */
export type Answer = { readonly page: string } | { readonly error: string };

/** One process for many directories. */
export class Oracle {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #answers: AsyncIterator<string>;
  #stderr = '';

  constructor(library: MetricLibrary) {
    const script = library === RUBY ? 'collect.rb' : 'collect.py';
    const [file = '', ...args] = library.program;
    const path = join(PROJECT, 'test/multiprocess', script);
    this.#child = spawn(file, [...args, path], {
      env: environmentOf(library),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stderr.on('data', (text: Buffer) => (this.#stderr += text.toString()));
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Asks for all pages at once. */
  async pagesOf(asked: readonly Asked[]): Promise<Answer[]> {
    this.#child.stdin.write(asked.map((each) => `${JSON.stringify(requestOf(each))}\n`).join(''));
    const answers: Answer[] = [];
    while (answers.length < asked.length) {
      const line = await this.#answers.next();
      if (line.done === true) throw new Error(`the oracle ended: ${this.#stderr}`);
      answers.push(JSON.parse(line.value) as Answer);
    }
    return answers;
  }

  async pageOf(asked: Asked): Promise<Answer> {
    const [answer] = await this.pagesOf([asked]);
    return answer ?? { error: 'no answer' };
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin.end();
    await ended;
  }
}

const requestOf = (asked: Asked): object =>
  'path' in asked
    ? asked
    : {
        files: Object.fromEntries(
          [...asked.files].map(([name, bytes]) => [name, bytes.toString('base64')]),
        ),
      };
