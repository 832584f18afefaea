// What a JVM runs, short enough for a label.

const LONGEST = 128;

/**
 * The main class, or the file of a jar, of a command; empty where there is none. Arguments follow the
 * first blank, and a module or folder goes before the last slash: neither is shown.
 * @param classPath with -jar, the path of the jar, which starts the command and may contain blanks
 */
export function mainClassOf(command: string, classPath = ''): string {
  const isJar = classPath !== '' && `${command} `.startsWith(`${classPath} `);
  const [first = ''] = isJar ? [classPath] : command.trim().split(/\s/, 1);
  const last = first.slice(first.lastIndexOf('/') + 1);
  return last.replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, LONGEST);
}
