// What systemd is told of the process: ready, reloading, stopping, alive (sd_notify(3)).
import { EMPTY, asyncScheduler, ignoreElements, interval, tap } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

/** However long systemd would wait; timers of Node cannot be set to more than 24 days. */
const LONGEST_SILENCE_MS = 30_000;

/** Sends a datagram to a UNIX socket; returns 0 or an errno. Never waits. */
type SendDatagram = (address: string, text: string) => number;

export interface ServiceManagerOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly send: SendDatagram;
  /** Microseconds of CLOCK_MONOTONIC. */
  readonly monotonicUs: () => bigint;
  /** Called once, with the reason, when systemd cannot be reached. */
  readonly warn: (message: string) => void;
  readonly scheduler?: SchedulerLike;
}

/** The program that started this one, if it asks for news; else nothing is sent. */
export class ServiceManager {
  readonly #options: ServiceManagerOptions;
  /** A path, or `@` and a name of the abstract namespace. */
  readonly #address: string;
  #isReady = false;
  #isWarned = false;

  constructor(options: ServiceManagerOptions) {
    this.#options = options;
    this.#address = options.environment['NOTIFY_SOCKET'] ?? '';
  }

  /** Whether anybody asks. */
  get isListening(): boolean {
    return this.#address !== '';
  }

  ready(): void {
    this.#isReady = true;
    this.#tell('READY=1');
  }

  /** Tells that the configuration is read again, and when that is over, whether it was taken or not. */
  reloading<T>(reload: () => T): T {
    // A start that is not over goes on.
    if (!this.#isReady) return reload();
    this.#tell('RELOADING=1', `MONOTONIC_USEC=${this.#options.monotonicUs()}`);
    try {
      return reload();
    } finally {
      this.ready();
    }
  }

  stopping(): void {
    this.#tell('STOPPING=1');
  }

  /** @param text one line, for `systemctl status` */
  status(text: string): void {
    this.#tell(`STATUS=${text}`);
  }

  /** Signs of life while subscribed, twice in the time that systemd allows; completes if it asks for none. */
  alive(): Observable<never> {
    const { environment, pid, scheduler = asyncScheduler } = this.#options;
    const { WATCHDOG_USEC: limit = '', WATCHDOG_PID: forPid = String(pid) } = environment;
    if (!this.isListening || forPid !== String(pid) || !/^[1-9]\d{0,15}$/.test(limit)) return EMPTY;
    return interval(Math.min(Number(limit) / 2000, LONGEST_SILENCE_MS), scheduler).pipe(
      tap(() => this.#tell('WATCHDOG=1')),
      ignoreElements(),
    );
  }

  #tell(...lines: readonly string[]): void {
    if (!this.isListening) return;
    const errno = this.#options.send(this.#address, lines.join('\n'));
    if (errno === 0 || this.#isWarned) return;
    this.#isWarned = true;
    this.#options.warn(`systemd cannot be reached at ${this.#address}: errno ${errno}`);
  }
}

/** The first descriptor that is handed over. */
const FIRST = 3;

/** The descriptors; none if they were meant for another process, such as the one that started this. */
export function activatedSockets(
  env: Readonly<Record<string, string | undefined>>,
  pid: number,
): readonly number[] {
  const { LISTEN_PID: forPid, LISTEN_FDS: count = '' } = env;
  if (forPid !== String(pid) || !/^\d{1,3}$/.test(count)) return [];
  return Array.from({ length: Number(count) }, (_, index) => FIRST + index);
}
