// The variables of a root that identify a run of its process, as real ones have them.
import type { PlannedInstance, PlannedVariable } from '../tree-plan.js';

/** A plan whose root has this process id and start; both stay constant. */
export function withRunFacts(
  plan: readonly PlannedInstance[],
  pid: number,
  startedAt: Date,
): readonly PlannedInstance[] {
  const variables: readonly PlannedVariable[] = [
    { name: 'processID', type: 'i64', course: { kind: 'constant', value: pid }, schema: [] },
    {
      name: 'time',
      type: 'string',
      course: { kind: 'fixed', text: startText(startedAt) },
      schema: [],
    },
  ];
  const names = variables.map(({ name }) => name);
  const roots = plan.flatMap(({ objects }) => objects).filter(({ seedPath }) => seedPath === '');
  const root = { seedPath: '', className: roots[0]?.className ?? 'Process', variables };
  const others = plan.map((instance) => ({
    ...instance,
    objects: instance.objects.map((object) =>
      object.seedPath === ''
        ? { ...object, variables: object.variables.filter(({ name }) => !names.includes(name)) }
        : object,
    ),
  }));
  return [{ objects: [root], isTransient: false }, ...others];
}

/** As C's asctime writes UTC, such as `Mon Jan  5 08:00:00 2026`. */
function startText(at: Date): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = at.toUTCString().split(' ');
  return `${weekday.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
}
