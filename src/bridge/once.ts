// One poll of each component, and what it would publish.
import { concatMap, from, map } from 'rxjs';
import type { Observable } from 'rxjs';
import { counted } from '../counted.js';
import type { Around } from './bridge.js';
import type { ComponentConfig } from './settings/component-config.js';
import type { BridgeConfig } from './settings/configuration.js';
import { fetchBody } from './poll/fetch-body.js';
import { idlePatterns } from './tree/idle-patterns.js';
import { poll } from './poll/poll.js';
import type { Outcome } from './poll/poll.js';
import { scenarioText } from './tree/scenario-text.js';

/** The result of one component. */
export interface Shown {
  /** A scenario; empty when the poll failed. */
  readonly text: string;
  /** Sentences for the operator. */
  readonly remarks: readonly string[];
  readonly isGood: boolean;
}

/** Polls the components one after the other; publishes nothing. */
export function once(
  config: BridgeConfig,
  { unixMs, steadyMs, scheduler }: Pick<Around, 'unixMs' | 'steadyMs' | 'scheduler'>,
): Observable<Shown> {
  return from(config.components).pipe(
    concatMap((component) => {
      const { endpoint, securityKey, limits, requestTimeoutMs } = component;
      const settings = { limits, requestTimeoutMs, unixMs, steadyMs, scheduler };
      return poll(() => fetchBody(endpoint, securityKey), settings).pipe(
        map((outcome) => shown(outcome, component, config)),
      );
    }),
  );
}

function shown(outcome: Outcome, component: ComponentConfig, config: BridgeConfig): Shown {
  const { name, serverKey, selection, selected, endpoint } = component;
  const about = `${name}: ${endpoint.url.href}`;
  if (outcome.kind === 'failed') {
    const { reason, message } = outcome.failure;
    return { text: '', remarks: [`${about}: no tree (${reason}): ${message}`], isGood: false };
  }
  const { tree, size, durationMs } = outcome;
  const objects = selection(tree);
  const published = [...objects.values()].reduce((sum, { variables }) => sum + variables.size, 0);
  const odd = Object.entries(tree.oddities).filter(([, count]) => count > 0);
  const took = `${size.received} bytes over the wire, ${size.decoded} decompressed, ${Math.round(durationMs)} ms`;
  return {
    text: scenarioText(objects, { ...config, serverKey }),
    remarks: [
      `${about}: ${counted(tree.objects.size, 'object')}, ${counted(tree.variableCount, 'variable')}; ${took}`,
      `${name}: to be published under server key ${serverKey}: ${counted(objects.size, 'object')}, ${counted(published, 'variable')}`,
      ...idlePatterns(selected, tree).map((sentence) => `${name}: ${sentence}`),
      ...odd.map(([oddity, count]) => `${name}: ${count} ${oddity.replaceAll('_', ' ')}`),
      ...tree.unknownTypes.map((type) => `${name}: unknown type ${JSON.stringify(type)}`),
    ],
    isGood: true,
  };
}
