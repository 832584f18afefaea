// Writes a component's tree as a scenario, which the simulator can publish.
import type { ComponentVariable } from './component-tree.js';
import type { Selected } from './selection.js';

/** Where to publish a scenario. */
export interface ScenarioPlace {
  readonly contextId: string;
  readonly poolName: string;
  readonly serverKey: string;
}

/** The text of a scenario file: JSON, with one line per object and variable. */
export function scenarioText(objects: Selected, place: ScenarioPlace): string {
  const head = {
    context_id: place.contextId,
    pool_name: place.poolName,
    server_key: place.serverKey,
  };
  const items = [...objects.values()].map(({ id, parent, className, state, variables }) => {
    const facts = {
      id,
      ...(parent !== undefined && { parent: parent.id }),
      class: className,
      ...(state !== 'normal' && { state }),
    };
    const lines = [...variables.values()].map(variableLine);
    return `${JSON.stringify(facts).slice(0, -1)},"variables":{${lines.length > 0 ? '\n' : ''}${lines.join(',\n')}}}`;
  });
  return `${JSON.stringify(head).slice(0, -1)},"objects":[\n${items.join(',\n')}\n]}\n`;
}

function variableLine({ name, kind, value: { type, value } }: ComponentVariable): string {
  // Integers that not every JSON reader keeps exact become decimal strings.
  const exact = typeof value === 'bigint' ? String(value) : value;
  const facts = { type, ...(kind !== 'unknown' && { kind }), value: exact };
  return `  ${JSON.stringify(name)}:${JSON.stringify(facts)}`;
}
