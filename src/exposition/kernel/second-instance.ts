// A kernel's second instance: works in the memory of the first, on other blocks.
import type { KernelExports } from './kernel-exports.js';
import type { KernelParts } from './kernel.js';

export interface SecondInstance {
  readonly run: KernelExports;
  /** As `Kernel.written`, of this instance. */
  readonly written: Uint32Array;
}

export function secondInstance({ module, memory, own }: KernelParts): SecondInstance {
  const { exports } = new WebAssembly.Instance(module, { env: { memory }, own });
  const written = new Uint32Array(memory.buffer, own.RESULT, 2);
  return { run: exports as unknown as KernelExports, written };
}
