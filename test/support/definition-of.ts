// A target's definition for tests: application `demo`, which has no catalogue, on server key 82.
import { loadConfig } from '#app/config/resolve.js';
import { targetSettings } from '#app/config/settings.js';
import type { TargetDefinition } from '#app/targets/formats.js';

const DEFAULTS = targetSettings(loadConfig({ overrides: {} }).settings);

export const definitionOf = (given: Partial<TargetDefinition> = {}): TargetDefinition => ({
  ...{
    ...DEFAULTS,
    app: 'demo',
    serverKeys: ['82'],
    catalogue: undefined,
    keyLabels: {},
    isDiscovered: false,
    targetLabels: undefined,
    isDebug: false,
  },
  ...given,
});
