// One component out of those of a configuration.
import { quoted } from '../../document/key-path.js';
import { Fault } from '../../errors.js';
import type { BridgeConfig } from './configuration.js';

/**
 * The configuration with the component of that name alone, or as it is without a name.
 * @throws Fault USAGE when there is none of that name
 */
export function withComponent(config: BridgeConfig, name: string | undefined): BridgeConfig {
  if (name === undefined) return config;
  const components = config.components.filter((component) => component.name === name);
  if (components.length > 0) return { ...config, components };
  const names = config.components.map((component) => quoted(component.name)).join(' or ');
  throw new Fault('USAGE', `--component: found ${quoted(name)}, allowed: ${names}`);
}
