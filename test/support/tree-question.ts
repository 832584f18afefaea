// A question about a tree that asks for everything, but for what a test changes.
import type { TreeQuestion } from '#app/model.js';

export const treeQuestion = (changed: Partial<TreeQuestion> = {}): TreeQuestion => ({
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
