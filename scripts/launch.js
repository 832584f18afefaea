// How a program is launched.

/**
 * V8 has one thread beside those that run JavaScript, where it would have four: docs/decisions.md, "V8 has one
 * thread of its own". Node.js takes that on its command line only.
 */
export const NODE_OPTIONS = '--v8-pool-size=1';

/**
 * The first lines of a program: a shell replaces itself by Node.js, which reads a text and a comment there. A line
 * for `env` could have no option on systems whose `env` has no `-S`.
 */
export const LAUNCH = `#!/bin/sh\n':' //; exec node ${NODE_OPTIONS} "$0" "$@"\n`;
