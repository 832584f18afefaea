// A web configuration whose files may change while it is in use, as certificates do.
import { statSync } from 'node:fs';
import { Fault, isSystemError, messageOf } from '../errors.js';
import type { TargetEvent } from '../model.js';
import { readWebConfig } from './web-config.js';
import type { WebConfig } from './web-config.js';

/** Files are checked at most once in this period. */
const PERIOD_MS = 1000;

/** The result of an attempt to read the files. */
export interface WebConfigNews {
  /** Whether the present content of the files is in use. */
  readonly isInUse: boolean;
  readonly current: WebConfig;
}

export class WatchedWebConfig {
  readonly #file: string;
  readonly #tell: (news: WebConfigNews) => void;
  readonly #nowMs: () => number;
  readonly #log: (event: TargetEvent) => void;
  #current: WebConfig;
  #fileState: string;
  #checkedMs: number;
  /** Why the files could not be read again; undefined if they could. */
  #refused: string | undefined;

  /**
   * @param tell called after each attempt to read the files
   * @throws Fault CONFIG_INVALID as `readWebConfig` does
   */
  constructor(
    file: string,
    nowMs: () => number,
    log: (event: TargetEvent) => void,
    tell: (news: WebConfigNews) => void = () => undefined,
  ) {
    this.#file = file;
    this.#tell = tell;
    this.#nowMs = nowMs;
    this.#log = log;
    this.#current = readWebConfig(file);
    this.#fileState = stateOf(this.#current.files);
    this.#checkedMs = nowMs();
    this.#tell({ isInUse: true, current: this.#current });
  }

  /** As the files are now; as they were if they became invalid. */
  get current(): WebConfig {
    const nowMs = this.#nowMs();
    if (nowMs - this.#checkedMs >= PERIOD_MS) {
      this.#checkedMs = nowMs;
      this.#check();
    }
    return this.#current;
  }

  #check(): void {
    const fileState = stateOf(this.#current.files);
    // A configuration that was refused may name files that come later.
    if (fileState === this.#fileState && this.#refused === undefined) return;
    this.#fileState = fileState;
    try {
      const next = readWebConfig(this.#file);
      const kept = fixed(this.#current);
      this.#refused = undefined;
      const isInUse = fixed(next) === kept;
      if (!isInUse)
        this.#say(
          'warning',
          'whether clients use TLS and show certificates changes at the next start',
        );
      else {
        this.#current = next;
        // It may name other files now.
        this.#fileState = stateOf(next.files);
        this.#say('info', `web configuration ${this.#file} read again`);
      }
      this.#tell({ isInUse, current: this.#current });
    } catch (thrown) {
      if (!(thrown instanceof Fault) && !isSystemError(thrown)) throw thrown;
      const reason = messageOf(thrown);
      if (reason !== this.#refused)
        this.#say(
          'warning',
          `web configuration not read again, the present one stays in use: ${reason}`,
        );
      this.#refused = reason;
      this.#tell({ isInUse: false, current: this.#current });
    }
  }

  #say(level: TargetEvent['level'], message: string): void {
    this.#log({ level, message });
  }
}

/** What a listener cannot change while it is open. */
const fixed = ({ tls }: WebConfig): string => tls?.clientAuth ?? '';

/** Differs when a file was written, replaced, removed, or cannot be reached any more. */
const stateOf = (files: readonly string[]): string => files.map(stateOfFile).join();

function stateOfFile(file: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    return messageOf(error);
  }
}
