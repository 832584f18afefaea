// The search of a tree: a form that works without scripts.
import type { TreeChoice, TreeField } from '../../../model.js';
import { markup } from './html.js';
import type { Html, Part } from './html.js';
import type { TreeParameters } from './tree-parameters.js';

const FIELDS: Readonly<Record<TreeField, string>> = {
  any: 'anything',
  object: 'object id',
  class: 'class',
  variable: 'variable name',
  metric: 'metric name',
  value: 'value',
};

const CHOICES: Readonly<Record<TreeChoice, string>> = {
  all: 'everything',
  metrics: 'what becomes metrics',
  'left-out': 'what becomes none',
  unsynced: 'what is not synced',
};

/** @param query selects the target */
export function treeForm(path: string, query: URLSearchParams, given: TreeParameters): Html {
  const { object, q, field, choice, isLive } = given;
  const kept = [
    ...query,
    ...(object === '' ? [] : [['object', object]]),
    ...(isLive ? [['live', '1']] : []),
  ];
  return markup`<form role="search" action=".${path}" method="get">
    ${kept.map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`)}
    <div class="wide"><label for="q">Search for words</label>
      <input id="q" name="q" type="search" value="${q}" maxlength="1024" autocomplete="off" spellcheck="false"></div>
    <div><label for="in">in</label>
      <select id="in" name="in">${options(FIELDS, field)}</select></div>
    <div><label for="show">and show</label>
      <select id="show" name="show">${options(CHOICES, choice)}</select></div>
    <div><button>Search</button></div>
  </form>`;
}

const options = (words: Readonly<Record<string, string>>, chosen: string): Part =>
  Object.entries(words).map(([value, text]) => {
    const selected = value === chosen ? markup` selected` : undefined;
    return markup`<option value="${value}"${selected}>${text}</option>`;
  });
