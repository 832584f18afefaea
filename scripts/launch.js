// How a program is launched.

/**
 * V8 has one thread beside those that run JavaScript, where it would have four: docs/decisions.md, "V8 has one
 * thread of its own". Node.js takes that on its command line only.
 */
const OPTIONS = '--v8-pool-size=1';

/** Trusts what a file of certificates names. Node 20 reads it for 50 ms at each start, whoever needs it. */
const TLS_CLIENT = 'shm_bridge';

/** The command of a shell that becomes a program: `node` and `file` are words of it. */
export function commandOf(program, node, file) {
  const before = program === TLS_CLIENT ? '' : 'unset NODE_EXTRA_CA_CERTS; ';
  return `${before}exec ${node} ${OPTIONS} ${file} "$@"`;
}

/**
 * The first lines of a program's file: a shell replaces itself by Node.js, which reads a text and a comment there.
 * A line for `env` could have no option on systems whose `env` has no `-S`.
 */
export const launchOf = (program) => `#!/bin/sh\n':' //; ${commandOf(program, 'node', '"$0"')}\n`;
