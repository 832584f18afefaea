// A server pool for each format, made when a target of it is hosted first.
import { ServerPool } from './server-pool.js';
import type { PoolParts } from './server-pool.js';
import type { Watches } from './watch.js';

/** The pool of a format. */
export type ServerPools = (format: string) => ServerPool;

/** Makes the pools of one thread. @throws Error for a format that was not checked before */
export function serverPools(
  formats: ReadonlyMap<string, Watches>,
  parts: Omit<PoolParts, 'watch'>,
): ServerPools {
  const pools = new Map<string, ServerPool>();
  return (format) => {
    const watch = formats.get(format);
    if (watch === undefined) throw new Error(`There is no format ${format}`);
    const pool = pools.get(format) ?? new ServerPool({ ...parts, watch });
    pools.set(format, pool);
    return pool;
  };
}
