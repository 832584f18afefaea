// Parses the fault commands on stdin.
import { FAULT_NAMES } from './faults.js';
import type { FaultName } from './faults.js';

export const NO_FAULT = 'none';

export const faultNamed = (text: string): FaultName | typeof NO_FAULT | undefined =>
  text === NO_FAULT ? NO_FAULT : FAULT_NAMES.find((name) => name === text);

/** `fault cut`, `fault none`; undefined for anything else. */
export const faultCommanded = (line: string): FaultName | typeof NO_FAULT | undefined =>
  faultNamed(/^\s*fault\s+(\S+)\s*$/.exec(line)?.[1] ?? '');

/** The answer to an unknown command. */
export const FAULT_USAGE = `allowed: "fault NAME", with NAME one of ${[...FAULT_NAMES, NO_FAULT].join(', ')}`;
