// Notifies systemd of the state of the process (sd_notify(3)), and finds the sockets that systemd passes.
import { EMPTY, asyncScheduler, ignoreElements, interval, tap } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

/** The maximum interval between two watchdog messages: systemd's interval may exceed the longest delay of a timer. */
const MAX_WATCHDOG_MS = 30_000;

/** Sends a datagram to a UNIX socket; returns 0 or an errno. Never blocks. */
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

/** Sends notifications to systemd. Sends nothing if the environment does not name the socket of systemd. */
export class ServiceManager {
  readonly #options: ServiceManagerOptions;
  /** The socket of systemd: a path, or `@` and a name in the abstract namespace; empty for none. */
  readonly #address: string;
  #isReady = false;
  #isWarned = false;

  constructor(options: ServiceManagerOptions) {
    this.#options = options;
    this.#address = options.environment['NOTIFY_SOCKET'] ?? '';
  }

  /** Whether the environment names a socket of systemd for notifications. */
  get isListening(): boolean {
    return this.#address !== '';
  }

  ready(): void {
    this.#isReady = true;
    this.#notify('READY=1');
  }

  /** Runs a reload. Notifies systemd of the start and the end of the reload, even if the reload throws. */
  reloading<T>(reload: () => T): T {
    // Before READY=1, systemd regards a reload as part of the start: do not notify it of the reload.
    if (!this.#isReady) return reload();
    this.#notify('RELOADING=1', `MONOTONIC_USEC=${this.#options.monotonicUs()}`);
    try {
      return reload();
    } finally {
      this.ready();
    }
  }

  stopping(): void {
    this.#notify('STOPPING=1');
  }

  /** Sets the status line of `systemctl status`. */
  status(text: string): void {
    this.#notify(`STATUS=${text}`);
  }

  /** Sends watchdog messages while subscribed, two per watchdog interval. Completes if systemd expects no messages. */
  watchdog(): Observable<never> {
    const { environment, pid, scheduler = asyncScheduler } = this.#options;
    const { WATCHDOG_USEC: limit = '', WATCHDOG_PID: forPid = String(pid) } = environment;
    if (!this.isListening || forPid !== String(pid) || !/^[1-9]\d{0,15}$/.test(limit)) return EMPTY;
    return interval(Math.min(Number(limit) / 2000, MAX_WATCHDOG_MS), scheduler).pipe(
      tap(() => this.#notify('WATCHDOG=1')),
      ignoreElements(),
    );
  }

  #notify(...lines: readonly string[]): void {
    if (!this.isListening) return;
    const errno = this.#options.send(this.#address, lines.join('\n'));
    if (errno === 0 || this.#isWarned) return;
    this.#isWarned = true;
    this.#options.warn(`systemd cannot be reached at ${this.#address}: errno ${errno}`);
  }
}

/** The first descriptor of socket activation, SD_LISTEN_FDS_START. */
const FIRST = 3;

/** The sockets of socket activation (sd_listen_fds(3)); none if systemd passed them to another process. */
export function activatedSockets(
  env: Readonly<Record<string, string | undefined>>,
  pid: number,
): readonly number[] {
  const { LISTEN_PID: forPid, LISTEN_FDS: count = '' } = env;
  if (forPid !== String(pid) || !/^\d{1,3}$/.test(count)) return [];
  return Array.from({ length: Number(count) }, (_, index) => FIRST + index);
}
