// The Node.js options of all programs, and the first line of their files.

/**
 * Options that Node.js needs at the start of the process; docs/decisions.md has the reasons. V8 gets one worker
 * thread and semi-spaces of at most 2 MB, and collects garbage when the heap has grown by half.
 */
export const OPTIONS = '--v8-pool-size=1 --max-semi-space-size=2 --heap-growing-percent=50';

/** The first line of a program's file. `env -S` needs GNU coreutils 8.30, which is older than the required glibc. */
export const LAUNCH = `#!/usr/bin/env -S node ${OPTIONS}\n`;
