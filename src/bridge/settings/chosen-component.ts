// Selects one component of a configuration.
import { quoted } from '../../document/key-path.js';
import { Fault } from '../../errors.js';
import type { BridgeConfig } from './configuration.js';

/**
 * The configuration with only the component of that name; unchanged without a name.
 * @throws Fault USAGE if no component has that name
 */
export function withComponent(config: BridgeConfig, name: string | undefined): BridgeConfig {
  if (name === undefined) return config;
  const components = config.components.filter((component) => component.name === name);
  if (components.length > 0) return { ...config, components };
  const names = config.components.map((component) => quoted(component.name)).join(' or ');
  throw new Fault('USAGE', `--component: found ${quoted(name)}, allowed: ${names}`);
}
