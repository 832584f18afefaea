// True if a process may read from its terminal: in the background a read would stop it.

/** @param stat the text of /proc/self/stat */
export function isForeground(stat: string): boolean {
  // After the name, which may contain blanks: state, parent, group, session, terminal, its group.
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group !== undefined && group === foreground;
}
