// A scenario with the tree that the simulator plans for an application, and a different value for each variable.
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { planTree } from '#app/simulator/tree-plan.js';
import type { PlannedVariable } from '#app/simulator/tree-plan.js';
import type { ScenarioFile, ScenarioVariable } from '../end-to-end/oracle.js';

/**
 * Returns the scenario of an application with about `objects` objects.
 * @param first the first of the values, which are consecutive
 */
export function plannedScenario(
  app: string,
  rootId: string,
  objects: number,
  first: number,
): ScenarioFile {
  const catalogue = loadCatalogues().get(app);
  if (catalogue === undefined) throw new RangeError(`No catalogue of ${app}`);
  let next = first;
  const idOf = (path: string) => (path === '' ? rootId : `${rootId}.${path}`);
  const planned = planTree(catalogue, objects)
    .flatMap((instance) => instance.objects)
    .sort((a, b) => a.seedPath.split('.').length - b.seedPath.split('.').length);
  const ids = new Set<string>();
  const all = planned.map(({ seedPath, className, variables }) => {
    const id = idOf(seedPath);
    const parent = parentOf(id, ids);
    ids.add(id);
    return {
      ...{ id, class: className, ...(parent !== undefined && { parent }) },
      variables: Object.fromEntries(
        variables.map((each) => [each.name, variableOf(each, next++)] as const),
      ),
    };
  });
  return { objects: all };
}

/** The id of the nearest known object above an object. */
function parentOf(id: string, known: ReadonlySet<string>): string | undefined {
  for (let end = id.lastIndexOf('.'); end > 0; end = id.lastIndexOf('.', end - 1))
    if (known.has(id.slice(0, end))) return id.slice(0, end);
  return undefined;
}

function variableOf({ type, course }: PlannedVariable, value: number): ScenarioVariable {
  if (type === 'string') return { type, value: course.kind === 'fixed' ? course.text : '' };
  if (type === 'bool') return { type, value: value % 2 === 1 };
  return { type: type === 'histogram' || type === 'summary' ? 'u64' : type, value };
}
