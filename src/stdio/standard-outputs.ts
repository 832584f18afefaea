// The standard outputs of a program that runs until a signal, and the end of its process.
import { fstatSync } from 'node:fs';
import { exitNow } from '../native/os/libc.js';
import { Output } from './output.js';

const [STDOUT, STDERR] = [1, 2];

export class StandardOutputs {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly #program: NodeJS.Process;

  /** @param onFailure called after each failed write */
  constructor(program: NodeJS.Process, onFailure?: (error: unknown) => void) {
    this.#program = program;
    this.stdout = new Output(STDOUT, onFailure);
    // If stdout and stderr are the same file, they share a queue, so that no log line splits a document.
    this.stderr = isSame() ? this.stdout : new Output(STDERR, onFailure);
  }

  /**
   * Ends the process when its outputs have been written.
   * @param withinMs the time after which the process ends even with unwritten output
   */
  end(status: number, withinMs = Infinity): void {
    const outputs = [this.stdout, this.stderr];
    const program = this.#program;
    const exit = () => {
      if (outputs.every(({ isIdle }) => isIdle)) program.exit(status);
      // exit() would wait for the threads of libuv's pool, which wait for the reader.
      program.exitCode = status;
      program.emit('exit', status);
      exitNow(status);
    };
    void Promise.all(outputs.map((output) => output.idle())).then(exit);
    if (withinMs < Infinity) setTimeout(exit, withinMs);
  }
}

function isSame(): boolean {
  const [out, err] = [STDOUT, STDERR].map((fd) => fstatSync(fd, { bigint: true }));
  return out?.dev === err?.dev && out?.ino === err?.ino;
}
