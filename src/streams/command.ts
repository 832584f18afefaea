// The command that a target sends to its partition. Plain data: it crosses threads.
import type { Forms } from '../model.js';

/** Take in the present values; render them if that changes the text and `mayRender` allows it. One report answers it. */
export interface Refresh {
  readonly kind: 'refresh';
  readonly mayRender: boolean;
  /** What a render is to make; text, if nothing is said. */
  readonly forms?: Forms;
}
