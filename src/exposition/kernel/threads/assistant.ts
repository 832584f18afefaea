// A thread that writes parts of a render while the thread that renders writes others.
import type { Worker } from 'node:worker_threads';
import { threadOf } from '../../../thread-code.js';
import type { Assists, Kernel, KernelParts } from '../kernel.js';
import { Desk } from './desk.js';

/** What the thread begins with. It is told of each kernel when that is used for the first time. */
export interface AssistantSetup {
  readonly words: Int32Array<SharedArrayBuffer>;
}

/** It ends when nobody needed it for so long: it takes some 10 MB. */
const IDLE_MS = 300_000;

/** Whether a thread is there: it is started when it is needed, and never again if it failed. */
type Standing = 'absent' | 'starting' | 'ready' | 'failed';

export interface AssistantParts {
  /**
   * Keeps a thread of the system from the processor that this one is on: a thread that is woken is often put
   * there first, where the two can only take turns.
   */
  readonly keepApart?: (thread: number) => void;
  readonly idleMs?: number;
  readonly start?: (setup: AssistantSetup) => Worker;
}

function starter(): (setup: AssistantSetup) => Worker {
  const start = threadOf(new URL('assistant-thread.js', import.meta.url));
  return (setup) => start({ workerData: setup });
}

/** It assists one thread, whose kernels take turns. */
export class Assistant implements Assists {
  readonly #parts: Required<AssistantParts>;
  #standing: Standing = 'absent';
  #worker: Worker | undefined;
  #desk = new Desk();
  /** The number by which the thread of the system knows it. */
  #thread = 0;
  #numbers = new WeakMap<Kernel, number>();
  #count = 0;
  #isEngaged = false;
  #idle: NodeJS.Timeout | undefined;

  constructor({
    keepApart = () => undefined,
    idleMs = IDLE_MS,
    start = starter(),
  }: AssistantParts = {}) {
    this.#parts = { keepApart, idleMs, start };
  }

  /** Undefined while it is with another kernel, and until it is there: it is started when it is asked for. */
  engage(kernel: Kernel): Desk | undefined {
    if (this.#standing === 'absent') this.#start();
    if (this.#standing !== 'ready' || this.#isEngaged) return undefined;
    this.#desk.kernel = this.#numberOf(kernel);
    this.#parts.keepApart(this.#thread);
    this.#rest();
    this.#isEngaged = true;
    return this.#desk;
  }

  release(): void {
    this.#isEngaged = false;
  }

  close(): void {
    clearTimeout(this.#idle);
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#desk.isLost = true;
    this.#standing = 'absent';
  }

  #start(): void {
    this.#standing = 'starting';
    this.#desk = new Desk();
    this.#numbers = new WeakMap();
    this.#count = 0;
    const setup: AssistantSetup = { words: this.#desk.words };
    let worker: Worker;
    try {
      worker = this.#parts.start(setup);
    } catch {
      this.#standing = 'failed';
      return;
    }
    const failed = (): void => {
      if (this.#worker !== worker) return;
      this.#standing = 'failed';
      this.#desk.isLost = true;
    };
    worker.on('error', failed).on('exit', failed);
    worker.once('message', (thread: number) => {
      if (this.#worker !== worker) return;
      this.#thread = thread;
      this.#standing = 'ready';
    });
    this.#worker = worker;
    this.#rest();
    // Last: a listener keeps the process alive again.
    worker.unref();
  }

  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#isEngaged) this.#rest();
      else this.close();
    }, this.#parts.idleMs).unref();
  }

  #numberOf(kernel: Kernel): number {
    const known = this.#numbers.get(kernel);
    if (known !== undefined) return known;
    // First, since there may be no memory for them.
    const parts: KernelParts = kernel.secondParts;
    const number = this.#count++;
    this.#numbers.set(kernel, number);
    this.#worker?.postMessage(parts);
    return number;
  }
}
