// What a configuration asks for and this version does not do yet: told at start, never silently ignored.
import type { Config } from './config/resolve.js';

/** One sentence for each key without effect. */
export function notYet(config: Config): readonly string[] {
  const { settings } = config;
  const keys: string[] = [];
  if (settings.workerExecutionMode === 'threaded') keys.push('worker_execution_mode');
  return keys.map((key) => {
    const place = config.at([key]);
    return `${place === '' ? '' : `${place}: `}${key} has no effect in this version yet`;
  });
}
