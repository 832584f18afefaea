// A query for the whole tree, with the fields that a test changes.
import type { TreeQuery } from '#app/model.js';

export const treeQuery = (changed: Partial<TreeQuery> = {}): TreeQuery => ({
  object: '',
  from: 0,
  words: [],
  field: 'any',
  choice: 'all',
  showsUnreadTexts: true,
  maxRows: 10_000,
  maxCharacters: 1_000_000,
  maxMs: 60_000,
  ...changed,
});
