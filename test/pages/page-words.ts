// Replaces words of the pages, such as ports, if only one program of a machine can use them at a time.
import { freePort } from '../support/free-port.js';
import { uniqueName } from '../support/test-run.js';

/** Returns a free port to replace each port. */
export async function otherPorts(...ports: readonly string[]): Promise<Record<string, string>> {
  const free = await Promise.all(ports.map(() => freePort()));
  return Object.fromEntries(ports.map((port, i) => [port, String(free[i])]));
}

/** Returns a unique server key to replace each server key. */
export function otherKeys(...keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, `${key}_${uniqueName()}`]));
}
