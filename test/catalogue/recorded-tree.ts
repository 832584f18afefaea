// The recorded object tree of a real ADH (Advanced Data Hub, a market data server). It may be missing, because it is
// not part of the project.
import { existsSync, readFileSync } from 'node:fs';
import type { ObjectPath } from '#app/catalogue/match/row-index.js';

const FOLDER = new URL('../../../shared/data/', import.meta.url);

/** Returns the text of a file beside the project, or undefined if it does not exist. */
export function sharedText(name: string): string | undefined {
  const file = new URL(name, FOLDER);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

export interface RecordedObject extends ObjectPath {
  readonly id: string;
  readonly root: string;
  /** Value types by variable name. */
  readonly variables: ReadonlyMap<string, string>;
}

interface ScenarioObject {
  readonly id: string;
  readonly parent?: string;
  readonly class: string;
  readonly variables: Readonly<Record<string, { readonly type: string }>>;
}

/** All objects of a scenario, each with its root and its path. */
export function objectsOf(scenario: string): readonly RecordedObject[] {
  const { objects } = JSON.parse(scenario) as { objects: readonly ScenarioObject[] };
  const byId = new Map(objects.map((object) => [object.id, object]));
  const rootOf = ({ id, parent }: ScenarioObject): string => {
    const above = parent === undefined ? undefined : byId.get(parent);
    return above === undefined ? id : rootOf(above);
  };
  return objects.map((object) => {
    const root = rootOf(object);
    const pathOf = (id: string): string => (id === root ? '' : id.slice(root.length + 1));
    const ancestor = (seedPath: string): string | undefined => {
      let above = object.parent === undefined ? undefined : byId.get(object.parent);
      while (above !== undefined && pathOf(above.id) !== seedPath)
        above = above.parent === undefined ? undefined : byId.get(above.parent);
      return above?.class;
    };
    const types = Object.entries(object.variables).map(([name, { type }]) => [name, type] as const);
    return {
      id: object.id,
      root,
      className: object.class,
      seedPath: pathOf(object.id),
      ancestor,
      variables: new Map(types),
    };
  });
}
