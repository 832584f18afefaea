// The numbers of tracked objects and variables, and how many of each have a value.
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

  /** The counts that include a node: those of objects or those of variables. */
  of(node: TreeNode): Count {
    return isVariable(node) ? this.variables : this.objects;
  }
}
