// Configuration files of the bridge, as tests write them.
import { loadBridgeConfig } from '#app/bridge/settings/configuration.js';
import type { BridgeConfig } from '#app/bridge/settings/configuration.js';
import type { KeyReader } from '#app/bridge/settings/security-key.js';

/** The three keys that a component needs. */
export const COMPONENT =
  '[[components]]\nname = "a"\nurl = "http://127.0.0.1:8080"\nserver_key = "82"\n';

export const KEYS: KeyReader = { environment: {}, userId: process.geteuid?.() };

export const load = (file: string, keys: KeyReader = KEYS): BridgeConfig =>
  loadBridgeConfig(file, keys, 'here');
