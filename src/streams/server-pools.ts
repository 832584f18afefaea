// A server pool for each format and its settings, made when a target with them is hosted first.
import { ServerPool } from './server-pool.js';
import type { PoolParts } from './server-pool.js';
import type { Watches } from './watch.js';

/** What a target says of its format. */
type Settings = Readonly<Record<string, unknown>>;

/** What watches server keys, by the name of the format. */
export type FormatWatches = ReadonlyMap<string, (settings: Settings) => Watches>;

/** The pool of a format with these settings: targets that have the same share it. */
export type ServerPools = (format: string, settings?: Settings) => ServerPool;

/** Makes the pools of one thread. @throws Error for a format that was not checked before */
export function serverPools(formats: FormatWatches, parts: Omit<PoolParts, 'watch'>): ServerPools {
  const pools = new Map<string, ServerPool>();
  return (format, settings = {}) => {
    const watches = formats.get(format);
    if (watches === undefined) throw new Error(`There is no format ${format}`);
    const key = JSON.stringify([format, settings]);
    const known = pools.get(key);
    if (known !== undefined) return known;
    // Settings that a reload took away leave nothing behind.
    for (const [each, pool] of pools) if (pool.isIdle) pools.delete(each);
    const pool = new ServerPool({ ...parts, watch: watches(settings) });
    pools.set(key, pool);
    return pool;
  };
}
