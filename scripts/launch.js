// How a program is launched.

/**
 * Options of Node.js that apply from the start of the process; docs/decisions.md has the reasons.
 * V8 has one thread beside those that run JavaScript, semi-spaces of at most 8 MB, and collects garbage when the
 * heap has grown by half.
 */
export const OPTIONS = '--v8-pool-size=1 --max-semi-space-size=8 --heap-growing-percent=50';

/** The first line of a program's file. `env` of GNU coreutils has `-S` since 8.30, which is older than the glibc needed. */
export const LAUNCH = `#!/usr/bin/env -S node ${OPTIONS}\n`;
