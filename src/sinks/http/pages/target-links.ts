// Where the pages of a target are: only links that answer.
import type { Target } from '../../../model.js';
import { parametersOf } from '../../routing-parameters.js';
import { route } from '../route.js';

/** The query that selects a target; undefined if none can. */
export function queryOf(target: Target, targets: readonly Target[]): URLSearchParams | undefined {
  const query = new URLSearchParams(parametersOf(target, targets));
  const routed = route(targets, query);
  return routed.kind === 'refused' || routed.target !== target ? undefined : query;
}

/**
 * The relative URL of a page with further parameters; empty ones are left out. All pages are in one folder, so a
 * relative URL also works below the path prefix of a proxy.
 */
export function address(
  path: string,
  query: URLSearchParams,
  further: Readonly<Record<string, string>> = {},
): string {
  const all = new URLSearchParams(query);
  for (const [name, value] of Object.entries(further)) if (value !== '') all.set(name, value);
  return all.size > 0 ? `.${path}?${all.toString()}` : `.${path}`;
}
