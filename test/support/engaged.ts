// An assistant that is there.
import type { Kernel } from '#app/exposition/kernel/kernel.js';
import type { Assistant } from '#app/exposition/kernel/threads/assistant.js';
import type { Desk } from '#app/exposition/kernel/threads/desk.js';
import { eventually } from './eventually.js';

/** Its desk, as soon as its thread has started. */
export async function engaged(assistant: Assistant, kernel: Kernel): Promise<Desk> {
  let desk: Desk | undefined;
  await eventually('the assistant comes', () => (desk = assistant.engage(kernel)) !== undefined);
  if (desk === undefined) throw new Error('The assistant left again');
  return desk;
}
