// The rows of a tree: each object with its variables, their values and their metrics.
import type {
  Scope,
  TreeMetric,
  TreeObject,
  TreeRow,
  TreeValue,
  TreeVariable,
} from '../../../model.js';
import { countText, grouped, nameText, quotedText, sentence } from '../../../shown/shown-text.js';
import { breakable, markup } from './html.js';
import type { Html } from './html.js';

export interface TreeTableOptions {
  readonly root: string;
  readonly scope: Scope | undefined;
  readonly below: (id: string) => string;
}

const MAX_METRICS = 8;
const MAX_LEVEL = 6;

export const TREE_HEADS = ['object or variable', 'type', 'value', 'becomes'] as const;

/** The rows in HTML. Each object precedes its variables, which are indented. */
export function treeRows(rows: readonly TreeRow[], facts: TreeTableOptions): readonly Html[] {
  let depth = 0;
  return rows.map((row) => {
    if (row.kind === 'object') depth = row.depth;
    return row.kind === 'object' ? objectRow(row, facts) : variableRow(row, depth + 1, facts);
  });
}

function objectRow(row: TreeObject, facts: TreeTableOptions): Html {
  const { id, name, className, depth, variables, children } = row;
  return markup`<tr class="object" role="row" id="i${id}">
    <th scope="row" role="rowheader" class="${levelOf(depth)}">
      <a href="${facts.below(name)}">${idText(name, facts.root)}</a><span class="sub">${countText(variables, 'variable')}${children > 0 ? `, ${countText(children, 'child', 'children')}` : undefined}</span>
    </th>
    <td role="cell" data-is="class">${breakable(nameText(className))}</td>
    <td role="cell" data-is="state" class="value">${valueText(row.value)}</td>
    <td role="cell" data-is="becomes">${metricsText(row, facts)}</td>
  </tr> `;
}

function variableRow(row: TreeVariable, depth: number, facts: TreeTableOptions): Html {
  const { id, name, type, variableKind, unit, help } = row;
  const declared = [
    type,
    variableKind === 'unknown' ? '' : variableKind,
    unit === '' ? '' : nameText(unit),
  ];
  return markup`<tr role="row" id="i${id}">
    <th scope="row" role="rowheader" class="variable ${levelOf(depth)}">
      ${breakable(nameText(name))}${help === '' ? undefined : markup`<span class="sub">${breakable(sentence(help))}</span>`}
    </th>
    <td role="cell" data-is="type">${declared.filter(Boolean).join(' ')}</td>
    <td role="cell" data-is="value" class="value">${valueText(row.value)}</td>
    <td role="cell" data-is="becomes">${metricsText(row, facts)}</td>
  </tr> `;
}

const levelOf = (depth: number): string => `d${Math.min(depth, MAX_LEVEL)}`;

/** An object id, with the id of the root in a muted colour. */
function idText(name: string, root: string): Html {
  const prefix = `${root}.`;
  if (!name.startsWith(prefix) || name === prefix) return markup`${breakable(nameText(name))}`;
  // Do not split a name in quotes.
  const shown = nameText(name);
  if (shown !== name) return markup`${breakable(shown)}`;
  return markup`<span class="prefix">${breakable(prefix)}<wbr></span>${breakable(name.slice(prefix.length))}`;
}

function valueText(value: TreeValue): Html {
  if (value.kind === 'none') return markup`<span class="muted">(${value.reason})</span>`;
  if (value.kind === 'plain') return markup`${breakable(value.text)}`;
  const { text, characters } = value;
  const more =
    characters > text.length
      ? markup`\u2026 <span class="muted">(${grouped(characters)} characters)</span>`
      : undefined;
  return markup`${breakable(quotedText(text))}${more}`;
}

function metricsText({ metrics, why }: TreeRow, facts: TreeTableOptions): Html {
  const shown = metrics.slice(0, MAX_METRICS).map((metric) => metricText(metric, facts));
  const more = metrics.length - shown.length;
  return markup`${shown}${more > 0 ? markup`<span class="muted">and ${more} more</span>` : undefined}${
    why === '' ? undefined : markup`<span class="muted">no metric: ${sentence(why)}</span>`
  }`;
}

function metricText(
  { name, type, labels, series, why }: TreeMetric,
  { scope }: TreeTableOptions,
): Html {
  const text = labels === '' ? name : `${name}{${labels}}`;
  const isOutside = scope !== undefined && !scope.selects({ name, type });
  const remarks = [
    series > 1 ? countText(series, 'series', 'series') : '',
    isOutside ? `outside of scope ${nameText(scope.name)}` : '',
  ].filter(Boolean);
  const shown = markup`${breakable(sentence(text))}`;
  if (series === 0 && why !== '')
    return markup`<span class="metric"><span class="muted">not ${shown}</span><span class="sub warn">${sentence(why)}</span></span>`;
  return markup`<span class="metric">${shown}${remarks.length === 0 ? undefined : markup`<span class="sub">${remarks.join(', ')}</span>`}</span>`;
}
