// How a program is launched.

/**
 * V8 has one thread beside those that run JavaScript, where it would have four: docs/decisions.md, "V8 has one
 * thread of its own". That is settled when a process of Node.js begins.
 */
export const OPTIONS = '--v8-pool-size=1';

/** The first line of a program's file. `env` of GNU coreutils has `-S` since 8.30, which is older than the glibc needed. */
export const LAUNCH = `#!/usr/bin/env -S node ${OPTIONS}\n`;
