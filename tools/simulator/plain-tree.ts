// The tree of an application without a catalogue: workers with variables of all types.
import type { PlannedInstance, PlannedVariable } from './tree-plan.js';

const VARIABLES: readonly PlannedVariable[] = [
  { name: 'requests', type: 'u64', course: { kind: 'total', step: 100 }, schema: [] },
  { name: 'queueLength', type: 'i64', course: { kind: 'level', most: 100 }, schema: [] },
  { name: 'load', type: 'f64', course: { kind: 'level', most: 1 }, schema: [] },
  { name: 'isBusy', type: 'bool', course: { kind: 'level', most: 1 }, schema: [] },
  { name: 'version', type: 'string', course: { kind: 'fixed', text: '1.0' }, schema: [] },
  {
    name: 'latency',
    type: 'histogram',
    course: { kind: 'distribution' },
    schema: [0.001, 0.01, 0.1, 1],
  },
  { name: 'size', type: 'summary', course: { kind: 'distribution' }, schema: [0.5, 0.9, 0.99] },
];

/** Plans `objects` objects, including the root. */
export function planPlainTree(objects: number): readonly PlannedInstance[] {
  return Array.from({ length: Math.max(1, objects) }, (_, n) => ({
    isTransient: n > 0,
    objects: [
      {
        seedPath: n === 0 ? '' : `worker.${n}`,
        className: n === 0 ? 'Process' : 'Worker',
        variables: VARIABLES,
      },
    ],
  }));
}
