// When the values of nodes began to count: the start timestamps of counters, histograms and summaries.
import { LargeMap } from '../../collections/large-map.js';
import type { ManagedObject, Source } from '../../model.js';
import { isVariable } from './tree-walk.js';
import type { TreeNode } from './tree-walk.js';

/**
 * The start times of the tracked nodes. An object may state one for itself and all below it. Otherwise, nodes of the
 * first tree began with the source, and later nodes when they were tracked. The start is never later than the real one
 * by more than the interval between two polls: a scraper counts the whole value from the start on.
 */
export class StartTimes {
  readonly #source: Pick<Source, 'startedUnixMs'>;
  readonly #unixMs: () => number;
  /** The start times, in Unix milliseconds, of the nodes that did not begin with the source, by id. */
  readonly #ofNodes = new LargeMap<number>();
  #isFirstTree = true;

  constructor(source: Pick<Source, 'startedUnixMs'>, unixMs: () => number) {
    this.#source = source;
    this.#unixMs = unixMs;
  }

  /** The nodes that are tracked from now on are new. */
  endFirstTree(): void {
    this.#isFirstTree = false;
  }

  track(node: TreeNode): void {
    const stated = statedStart(isVariable(node) ? node.object : node);
    if (stated !== undefined) this.#ofNodes.set(node.id, stated);
    else if (!this.#isFirstTree) this.#ofNodes.set(node.id, this.#unixMs());
  }

  untrack({ id }: TreeNode): void {
    this.#ofNodes.delete(id);
  }

  /** The start of a tracked node in Unix milliseconds; undefined if unknown. */
  of(nodeId: number): number | undefined {
    return this.#ofNodes.get(nodeId) ?? this.#source.startedUnixMs;
  }
}

function statedStart(object: ManagedObject): number | undefined {
  let at: ManagedObject | undefined = object;
  while (at !== undefined && at.startedUnixMs === undefined) at = at.parent;
  return at?.startedUnixMs;
}
