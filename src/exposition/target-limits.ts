// The most that one target may have: what is beyond is left out, counted, and named once.

export interface TargetLimits {
  readonly objects: number;
  readonly variables: number;
  readonly series: number;
  /** Bytes of all names and labels. */
  readonly textBytes: number;
}

export const DEFAULT_LIMITS: TargetLimits = {
  objects: 1_000_000,
  variables: 2_000_000,
  series: 2_000_000,
  textBytes: 2 ** 29,
};

/** Called with each object, variable or series that a limit leaves out. */
export type OnOmitted = (limit: keyof TargetLimits, name: string) => void;
