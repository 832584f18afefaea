// What a configuration asks for and this version does not do yet: told at start, never silently ignored.
import type { Config } from './config/resolve.js';

/** One sentence for each key without effect. */
export function notYet(config: Config): readonly string[] {
  const { settings, targets } = config;
  const keys: string[] = [];
  if (targets.some(({ variable }) => variable !== '')) keys.push('variable');
  if (settings.workerExecutionMode === 'threaded') keys.push('worker_execution_mode');
  if (settings.workerAssignmentMode !== 'hash') keys.push('worker_assignment_mode');
  if (settings.workerRebalanceEnabled) keys.push('worker_rebalance_enabled');
  return keys.map((key) => {
    const place = config.at([key]);
    return `${place === '' ? '' : `${place}: `}${key} has no effect in this version yet`;
  });
}
