// The number of connections for which the limit of open files leaves room.

/** File descriptors of the process itself, of each target, and of each thread of a partition. */
const OF_PROCESS = 32;
const OF_TARGET = 2;
const OF_THREAD = 12;
/** With fewer connections, probes and scrapes would keep closing each other. */
const LEAST = 8;

/** The soft limit in the text of /proc/self/limits; infinite if it is not there. */
export function openFilesLimit(limits: string): number {
  const [, soft = ''] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return soft === '' ? Infinity : Number(soft);
}

/** The number of connections to allow, at most `wanted`; the warning is empty if there is room for all of them. */
export function connectionRoom(
  wanted: number,
  openFiles: number,
  targets: number,
  threads: number,
): { readonly connections: number; readonly warning: string } {
  const others = OF_PROCESS + OF_TARGET * targets + OF_THREAD * threads;
  if (openFiles >= others + wanted) return { connections: wanted, warning: '' };
  const connections = Math.min(wanted, Math.max(LEAST, openFiles - others));
  return {
    connections,
    warning: `the process may open ${openFiles} files (ulimit -n, LimitNOFILE of the unit), and ${targets} targets with http_max_connections = ${wanted} need ${others + wanted}: at most ${connections} connections are kept`,
  };
}
