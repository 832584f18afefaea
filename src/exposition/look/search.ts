// What a look at a tree searches for: words, in the fields of objects and variables.
import type { TreeQuestion } from '../../model.js';

/** The fields of an item that can be searched; the costly ones are asked for when they are needed. */
export interface Fields {
  readonly object: string;
  readonly className: string;
  /** Undefined for objects. */
  readonly variable: string | undefined;
  readonly metrics: () => readonly string[];
  readonly value: () => string;
}

type Wanted = Pick<TreeQuestion, 'words' | 'field'>;

/** Whether each word occurs in one of the chosen fields, whatever the case of its letters. */
export function fits({ words, field }: Wanted, fields: Fields): boolean {
  if (words.length === 0) return true;
  const open = new Set(words);
  const take = (text: string | undefined): void => {
    if (text === undefined || text === '') return;
    const lower = text.toLowerCase();
    for (const word of open) if (lower.includes(word)) open.delete(word);
  };
  const isAsked = (name: Wanted['field']): boolean =>
    open.size > 0 && (field === 'any' || field === name);
  if (isAsked('object')) take(fields.object);
  if (isAsked('class')) take(fields.className);
  if (isAsked('variable')) take(fields.variable);
  if (isAsked('metric')) fields.metrics().forEach(take);
  if (isAsked('value')) take(fields.value());
  return open.size === 0;
}
