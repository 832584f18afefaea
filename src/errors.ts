// All named failures, with the exit status of each.

/**
 * Exit statuses: 1 unexpected; 2 usage or configuration; 3 license; 4 listener, shared memory, or a snapshot that
 * `--once` could not write; 5 a target that was not ready for `--once`; 6 a license that becomes valid later; 7 faulty
 * files of `targets.d`, which a check found.
 */
export const FAULTS = {
  USAGE: { exit: 2 },
  CONFIG_INVALID: { exit: 2 },
  SCENARIO_INVALID: { exit: 2 },
  LICENSE_REJECTED: { exit: 3 },
  LICENSE_EARLY: { exit: 6 },
  LISTENER_FAILED: { exit: 4 },
  NOT_READY: { exit: 5 },
  NOT_WRITTEN: { exit: 4 },
  NATIVE_FAILED: { exit: 4 },
  SEGMENT_BUSY: { exit: 4 },
  SEGMENT_FULL: { exit: 4 },
  SEGMENT_INCOMPATIBLE: { exit: 4 },
  SEGMENT_CORRUPT: { exit: 4 },
  SEGMENT_UNSTABLE: { exit: 4 },
} as const satisfies Record<string, { exit: number }>;

export type FaultCode = keyof typeof FAULTS;

export class Fault extends Error {
  override readonly name = 'Fault';

  constructor(
    readonly code: FaultCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  get exit(): number {
    return FAULTS[this.code].exit;
  }
}

/** Whether a thrown value is the error of a failed system call, such as ENOENT or EMFILE. */
export const isSystemError = (thrown: unknown): boolean =>
  thrown instanceof Error && 'syscall' in thrown;

/** The code of a system error, such as ENOENT; empty for other values. */
export const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';

/** The message of a thrown value. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** Adds a prefix, such as the name of a setting, to the message of a Fault. Returns other values unchanged. */
export const prefixedFault = (prefix: string, thrown: unknown): unknown =>
  thrown instanceof Fault
    ? new Fault(thrown.code, `${prefix}: ${thrown.message}`, { cause: thrown })
    : thrown;

/** Returns the result of `attempt`. If `attempt` throws a Fault, adds a prefix to its message. */
export function prefixFault<T>(prefix: string, attempt: () => T): T {
  try {
    return attempt();
  } catch (thrown) {
    throw prefixedFault(prefix, thrown);
  }
}

/** Returns the result of `attempt`. If it throws a Fault, calls `report` with the Fault and returns undefined. */
export function catchFault<T>(attempt: () => T, report: (fault: Fault) => void): T | undefined {
  try {
    return attempt();
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    report(thrown);
    return undefined;
  }
}
