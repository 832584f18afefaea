// An open segment for the metrics of a program: the publisher, its root and its timers.
import { hostname } from 'node:os';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
import { isMainThread, threadId } from 'node:worker_threads';
import { Fault } from '../../../errors.js';
import { application, isServerKey, name, nameGuess } from '../../../rules/formats.js';
import { checkOptions } from '../../../rules/options.js';
import type { OptionRules } from '../../../rules/options.js';
import { integer, rule } from '../../../rules/rule.js';
import { removeDeadSegments } from '../dead-segments.js';
import { busyAdvice } from '../name-wait.js';
import { Publisher, warnOnStderr } from '../publisher.js';
import { PUBLISHER_OPTIONS, segmentOf } from '../publisher-options.js';
import type { PublishedObject, PublisherOptions } from '../publisher-options.js';

export interface SessionOptions extends Omit<PublisherOptions, 'series'> {
  /** May have one `{pid}`, which the pid replaces; in a worker thread, `PID.THREAD`. */
  readonly serverKey: string;
  /** The name of the application, by which the exporter selects the target. */
  readonly app: string;
  /** Milliseconds between two calls of the `collect` functions. Default 5000. */
  readonly intervalMs?: number | undefined;
}

/** The maximum delay of `setInterval` and `setTimeout`. */
const MAX_INTERVAL_MS = 2 ** 31 - 1;
/** Replaces `{pid}` in a server key with the pid; in a worker thread, with `PID.THREAD`. */
const withPid = (key: string, pid: number): string =>
  key.replace('{pid}', isMainThread ? `${pid}` : `${pid}.${threadId}`);
/** The rule for a server key that may have `{pid}`: with the pid in its place, it must be a valid server key. */
const serverKeyTemplate = rule(
  'string',
  `${name.allowed}, with at most one "{pid}"`,
  (raw) => (typeof raw === 'string' && isServerKey(withPid(raw, process.pid)) ? raw : undefined),
  nameGuess,
);
const RULES: OptionRules = {
  app: application,
  intervalMs: integer(1, MAX_INTERVAL_MS),
  ...PUBLISHER_OPTIONS,
  serverKey: serverKeyTemplate,
  heartbeatMs: integer(0, MAX_INTERVAL_MS),
};
/** The maximum number of warnings about different subjects. */
const MAX_WARNINGS = 64;
/** Intervals after which a call of the program's functions counts as failed. */
const MAX_CALL_INTERVALS = 3;

/** The open sessions, which the exit of the process closes. One listener, since Node.js warns of more than ten. */
const OPEN = new Set<Session>();
const closeAll = (): void => {
  for (const session of OPEN) session.close();
};

/**
 * Checks the options of a function that publishes metrics.
 * @param of the name of the function, for messages
 * @param more rules of the options that only this function has
 * @throws RangeError for an option that is unknown, invalid or missing
 */
export function checkSession(of: string, options: unknown, more: OptionRules = {}): void {
  checkOptions(of, options, { ...RULES, ...more }, ['serverKey', 'app']);
}

/** The timers do not keep the process alive. The exit of the process closes the session. */
export class Session {
  readonly serverKey: string;
  readonly publisher: Publisher;
  /** The name of the segment, with `{pid}` as the program states it. */
  readonly #template: string;
  readonly root: PublishedObject;
  readonly #intervalMs: number;
  readonly #warn: (sentence: string) => void;
  readonly #warned = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #beforeClose: () => void;

  /**
   * @param of the function that opens the session, for messages
   * @param beforeClose is called while the segment is still mapped
   * @throws RangeError for an option that is unknown, invalid or missing
   * @throws Fault as the constructor of `Publisher` does, and SEGMENT_FULL if the root has no room
   */
  constructor(of: string, options: SessionOptions, beforeClose: () => void = () => undefined) {
    checkSession(of, options);
    const { app, intervalMs = 5000, ...own } = options;
    const { pid = process.pid } = own;
    this.#template = segmentOf(own);
    this.serverKey = withPid(own.serverKey, pid);
    const publisherOptions = { ...own, serverKey: this.serverKey, series: true };
    this.publisher = new Publisher(publisherOptions, busyAdvice('{pid}'));
    this.#intervalMs = intervalMs;
    this.#warn = own.warn ?? warnOnStderr;
    this.#beforeClose = beforeClose;
    const host = hostname().replaceAll('.', '_');
    this.root = this.publisher.addRoot(`${host}.${pid}.${app}`, 'Metrics');
    if (this.root.ref === undefined) {
      this.publisher.close();
      const cause = '/dev/shm is full, or capacity is too small';
      throw new Fault('SEGMENT_FULL', `${of}: the segment has no room for its root: ${cause}`);
    }
    if (OPEN.size === 0) process.on('exit', closeAll);
    OPEN.add(this);
  }

  /**
   * Makes the segment visible, removes the segments of killed processes whose server keys differ only in the pid, and
   * starts the heartbeat. Calls `update` at the interval.
   * @throws Fault as `publish()` of `Publisher` does; then the session is closed
   */
  start(update: () => void): void {
    const { publisher } = this;
    try {
      publisher.publish();
      if (publisher.holdsKey) removeDeadSegments(this.#template);
    } catch (error) {
      this.close();
      throw error;
    }
    this.#timers.push(setInterval(update, this.#intervalMs).unref());
    if (publisher.heartbeatMs > 0) {
      const notify = (): void => {
        publisher.notify();
      };
      this.#timers.push(setInterval(notify, publisher.heartbeatMs).unref());
    }
  }

  /**
   * Returns the result of the program's function `of`, whose promise may never settle.
   * @throws Error if the result has not come after three intervals
   */
  async within<T>(of: string, result: T | PromiseLike<T>): Promise<T> {
    const limitMs = Math.min(MAX_CALL_INTERVALS * this.#intervalMs, MAX_INTERVAL_MS);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const fail = (): void => {
        reject(new Error(`${of} has not ended after ${limitMs} ms`));
      };
      timer = setTimeout(fail, limitMs).unref();
    });
    try {
      return await Promise.race([result, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  get isOpen(): boolean {
    return OPEN.has(this);
  }

  /** Writes a warning, once for each subject. */
  warnOnce(subject: string, sentence: string): void {
    if (!this.isOpen) return;
    if (this.#warned.has(subject) || this.#warned.size >= MAX_WARNINGS) return;
    this.#warned.add(subject);
    this.#warn(sentence);
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    if (OPEN.delete(this) && OPEN.size === 0) process.removeListener('exit', closeAll);
    this.#beforeClose();
    this.publisher.close();
  }
}
