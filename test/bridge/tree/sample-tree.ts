// Sample trees of components, with one object per line.
import { readTree } from '#app/bridge/tree/read-tree.js';
import type { ComponentTree } from '#app/bridge/tree/component-tree.js';
import type { JsonObject } from '#app/bridge/poll/json-document.js';

/** An object in the JSON of a component. */
export interface Sample extends JsonObject {
  readonly Instance: string;
  readonly Class: string;
  readonly Variables: readonly SampleVariable[];
  readonly Children: readonly Sample[];
}

interface SampleVariable extends JsonObject {
  readonly Name: string;
  readonly Type: string;
  readonly Value: number;
}

/** Creates an object with a number as the value of each variable. */
export const sample = (
  id: string,
  className: string,
  variables: readonly string[] = [],
  ...children: readonly Sample[]
): Sample => ({
  Instance: id,
  Class: className,
  Variables: variables.map((name) => ({ Name: name, Type: 'Gauge', Value: 1 })),
  Children: children,
});

export const treeOf = (...roots: readonly Sample[]): ComponentTree =>
  readTree(roots, { maxObjects: 1000, maxVariables: 10_000, maxDepth: 64 });
