// Ticks of a JVM's clock as nanoseconds.

const NANOSECONDS = 1_000_000_000n;

/** Turns ticks into nanoseconds. */
export interface TickScale {
  /** `i64`: exact, for a clock whose frequency divides that of nanoseconds. */
  readonly type: 'i64' | 'f64';
  /** Undefined for more than 64 bits hold. */
  exact(ticks: bigint): bigint | undefined;
  near(ticks: bigint): number;
}

/** The scale of a clock of so many ticks a second; undefined for none. */
export function tickScale(frequency: bigint | undefined): TickScale | undefined {
  if (frequency === undefined || frequency <= 0n) return undefined;
  const factor = NANOSECONDS / frequency;
  const exact = (ticks: bigint) => {
    const nanoseconds = ticks * factor;
    return BigInt.asIntN(64, nanoseconds) === nanoseconds ? nanoseconds : undefined;
  };
  const near = (ticks: bigint) => (Number(ticks) / Number(frequency)) * 1e9;
  return { type: NANOSECONDS % frequency === 0n ? 'i64' : 'f64', exact, near };
}
