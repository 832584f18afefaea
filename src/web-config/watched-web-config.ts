// Reads a web configuration again when its files change, for example at the renewal of a certificate.
import { statSync } from 'node:fs';
import { Fault, isSystemError, messageOf } from '../errors.js';
import type { TargetEvent } from '../model.js';
import { readWebConfig } from './web-config.js';
import type { WebConfig } from './web-config.js';

/** The shortest time between two checks of the files. */
const PERIOD_MS = 1000;

export interface WebConfigReload {
  /** Whether the current content of the files is in use. */
  readonly isInUse: boolean;
  readonly current: WebConfig;
}

export class WatchedWebConfig {
  readonly #file: string;
  readonly #onReload: (reload: WebConfigReload) => void;
  readonly #nowMs: () => number;
  readonly #log: (event: TargetEvent) => void;
  #current: WebConfig;
  #fileState: string;
  #checkedMs: number;
  /** Why the last attempt to read the files failed; undefined if it succeeded. */
  #refused: string | undefined;

  /**
   * @param onReload called after each attempt to read the files
   * @throws Fault CONFIG_INVALID if a file is not valid
   */
  constructor(
    file: string,
    nowMs: () => number,
    log: (event: TargetEvent) => void,
    onReload: (reload: WebConfigReload) => void = () => undefined,
  ) {
    this.#file = file;
    this.#onReload = onReload;
    this.#nowMs = nowMs;
    this.#log = log;
    this.#current = readWebConfig(file);
    this.#fileState = stateOf(this.#current.files);
    this.#checkedMs = nowMs();
    this.#onReload({ isInUse: true, current: this.#current });
  }

  /** The configuration from the last valid content of the files. */
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
    // Read a refused configuration again even if no file has changed: it may name files that are created later.
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
          'the new web configuration takes effect at the next start, since it changes whether clients use TLS or certificates',
        );
      else {
        this.#current = next;
        // The new configuration may name other files.
        this.#fileState = stateOf(next.files);
        this.#say('info', `web configuration ${this.#file} read again`);
      }
      this.#onReload({ isInUse, current: this.#current });
    } catch (thrown) {
      if (!(thrown instanceof Fault) && !isSystemError(thrown)) throw thrown;
      const reason = messageOf(thrown);
      if (reason !== this.#refused)
        this.#say(
          'warning',
          `web configuration not reloaded; the previous one stays in use: ${reason}`,
        );
      this.#refused = reason;
      this.#onReload({ isInUse: false, current: this.#current });
    }
  }

  #say(level: TargetEvent['level'], message: string): void {
    this.#log({ level, message });
  }
}

/** The settings that an open listener cannot change. */
const fixed = ({ tls }: WebConfig): string => tls?.clientAuth ?? '';

/** A text that changes when a file is written, replaced or removed, or becomes inaccessible. */
const stateOf = (files: readonly string[]): string => files.map(stateOfFile).join();

function stateOfFile(file: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    return messageOf(error);
  }
}
