// A target's definition for tests: application `demo`, which has no catalogue, on server key 82.
import { DEFAULT_LIMITS } from '#app/exposition/target-limits.js';
import type { TargetDefinition } from '#app/targets/formats.js';

export const definitionOf = (given: Partial<TargetDefinition> = {}): TargetDefinition => ({
  app: 'demo',
  format: 'native',
  formatSettings: {},
  serverKeys: ['82'],
  instance: '',
  variable: '',
  classes: [],
  seedPathGroups: [],
  seedPaths: [],
  showsUncatalogued: false,
  pathLabels: [],
  publisherTimeZone: '',
  limits: DEFAULT_LIMITS,
  catalogue: undefined,
  minRenderIntervalMs: 250,
  isDebug: false,
  ...given,
});
