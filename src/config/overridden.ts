// Which settings the command line gives.
import type { Overrides } from './arguments.js';
import { SETTINGS } from './settings.js';

/** Whether an option gave the value of a top-level key. */
export const isOverridden = (key: string | number | undefined, overrides: Overrides): boolean =>
  Object.entries(SETTINGS).some(([name, field]) => field.key === key && name in overrides);
