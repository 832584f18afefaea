// Copies short texts without a call of the host, which `memory.copy` is in shared memory.

/**
 * Copies text sixteen bytes at a time: up to sixteen bytes behind it are overwritten, and as many
 * behind its source are read.
 */
export function copyText(to: usize, from: usize, bytes: u32): void {
  const end = to + <usize>bytes;
  do {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  } while (to < end);
}
