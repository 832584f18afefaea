// How many of the tracked objects and variables there are, and how many of them have a value.
import type { SyncProgress } from '../../model.js';
import { isVariable } from './tree-walk.js';
import type { TreeNode } from './tree-walk.js';

interface Count {
  synced: number;
  total: number;
}

export class SyncCounts {
  readonly objects: Count = { synced: 0, total: 0 };
  readonly variables: Count = { synced: 0, total: 0 };

  /** A copy of the numbers. */
  get now(): Omit<SyncProgress, 'reason'> {
    return { objects: { ...this.objects }, variables: { ...this.variables } };
  }

  get areAllSynced(): boolean {
    const { objects, variables } = this;
    return objects.synced === objects.total && variables.synced === variables.total;
  }

  /** The numbers that a node counts for. */
  of(node: TreeNode): Count {
    return isVariable(node) ? this.variables : this.objects;
  }
}
