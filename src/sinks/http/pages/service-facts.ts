// What the process knows of itself, as the status page shows it.

export interface ServiceFacts {
  readonly version: string;
  /** The commit; empty if the build did not know it. */
  readonly revision: string;
  /** The version of Node. */
  readonly node: string;
  /** All times are Unix milliseconds. */
  readonly startedMs: number;
  /** Undefined before it was looked at. */
  readonly license: LicenseFacts | undefined;
  readonly configuration: ConfigurationFacts;
}

export interface LicenseFacts {
  /** Such as `valid`. */
  readonly state: string;
  /** Whether a start would be accepted, and nothing is to be done soon. */
  readonly mood: 'good' | 'warn' | 'bad';
  readonly expiresMs: number;
  /** Empty if there is none. */
  readonly warning: string;
}

export interface ConfigurationFacts {
  /** When the one in use was taken. */
  readonly takenMs: number;
  /** When a later one was refused; undefined if none was. */
  readonly refusedMs: number | undefined;
}
