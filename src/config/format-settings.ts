// The settings that a format has of its own, as a file has them: the format checks them.
import { anyTable } from '../rules/table.js';
import type { Rule } from '../rules/rule.js';

/** A table with any keys, frozen with all that is in it. */
export const formatSettings: Rule<Readonly<Record<string, unknown>>> = {
  ...anyTable,
  read(raw, path, report) {
    const table = anyTable.read(raw, path, report);
    freeze(table);
    return table;
  },
};

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const each of Object.values(value)) freeze(each);
}
