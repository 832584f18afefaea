// A published sample tree, and runs of shm_dump.
import { testPrograms } from '../support/processes.js';
import type { TestPrograms } from '../support/processes.js';

/** A scenario with every kind of value, and with names that need quoting. */
export const SHOP = {
  server_key: '7',
  objects: [
    {
      id: 'h.1.shop',
      class: 'Shop',
      variables: { version: { type: 'string', value: '1.0' } },
    },
    {
      id: 'h.1.shop.floor.a',
      parent: 'h.1.shop',
      class: 'Floor',
      state: 'dead',
      variables: {
        sold: { type: 'u64', kind: 'counter', unit: 'pieces', help: 'Sales.', value: 42 },
        large: { type: 'u64', value: '18446744073709551615' },
        low: { type: 'i64', value: -3 },
        warm: { type: 'f64', kind: 'gauge', value: 21.5 },
        open: { type: 'bool', value: true },
        late: { type: 'u64' },
        wait: { type: 'histogram', value: { bounds: [0.1, 1], counts: [3, 0, 1], sum: 2.5 } },
        size: { type: 'summary', value: { quantiles: { 0.5: 2 }, count: 9, sum: 18 } },
      },
    },
    {
      id: 'h.1.shop.floor.b',
      parent: 'h.1.shop',
      class: 'Floor',
      variables: {
        'turn \u202e\u001b[31m': { type: 'string', value: 'a\u001b]0;x\u0007\u009b2Jb\u2066' },
        long: { type: 'string', value: 'x'.repeat(300) },
      },
    },
  ],
};

export interface Dump {
  readonly programs: TestPrograms;
  /** Runs shm_dump with the context of the suite and the given arguments. */
  readonly dump: (...args: readonly string[]) => ReturnType<TestPrograms['run']>;
}

/** Call inside `describe`. */
export function dumps(): Dump {
  const programs = testPrograms();
  return {
    programs,
    dump: (...args) => programs.run('dump', '--context-id', programs.contextId, ...args),
  };
}
