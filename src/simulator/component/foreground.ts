// Whether a process may read from its terminal: in the background that would stop it.

/** @param stat what /proc/self/stat says */
export function isForeground(stat: string): boolean {
  // Behind the name, which may hold blanks: state, parent, group, session, terminal, its group.
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group !== undefined && group === foreground;
}
