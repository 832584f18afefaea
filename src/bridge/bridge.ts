// Builds the bridge from its configuration. The bridge polls each component periodically, or once.
import type { LookupFunction } from 'node:net';
import { Subject, concatMap, defer, finalize, from, map, merge, of, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { pluralize } from '../pluralize.js';
import type { TargetEvent } from '../model.js';
import { heartbeat } from '../native/publisher/heartbeat.js';
import { Publisher } from '../native/publisher/publisher.js';
import type { PublisherOptions } from '../native/publisher/publisher-options.js';
import { fetchBody } from './poll/fetch-body.js';
import { NameLookup } from './poll/name-lookup.js';
import { poll, polling, standing } from './poll/poll.js';
import type { PollClocks, PollOutcome, Polled } from './poll/poll.js';
import { ComponentKeeper } from './segment/component-keeper.js';
import { capacityFor } from './segment/mirror.js';
import { OwnRoot } from './segment/own-root.js';
import { KeyHolder } from './settings/component-table.js';
import type { ComponentConfig } from './settings/component-table.js';
import type { BridgeConfig } from './settings/configuration.js';
import { scenarioText, unmatchedPatterns } from './tree/selection.js';

/** The process, the clocks and the scheduler that the bridge uses. */
interface Around extends PollClocks {
  readonly pid: number;
  /**
   * The mode of new segment files, with the umask applied. The publisher sets it with chmod, which ignores the umask.
   */
  readonly segmentMode: number;
}

interface Shared extends Around {
  readonly lookup: LookupFunction;
}

/** Polls all components and publishes their trees while subscribed. */
export function bridge(config: BridgeConfig, around: Around): Observable<TargetEvent> {
  const shared = { ...around, lookup: new NameLookup().lookup };
  return merge(...config.components.map((component) => bridged(component, config, shared)));
}

function bridged(
  component: ComponentConfig,
  { contextId, poolName, host }: BridgeConfig,
  shared: Shared,
): Observable<TargetEvent> {
  return defer(() => {
    const keyEvent$ = new Subject<TargetEvent>();
    const options: PublisherOptions = {
      contextId,
      poolName,
      serverKey: component.serverKey,
      pid: shared.pid,
      mode: shared.segmentMode,
      realtimeNs: () => BigInt(shared.unixMs()) * 1_000_000n,
      capacity: capacityFor(component),
      warn: (sentence) => {
        // The end of a wait is no warning.
        const level = publisher.holdsKey ? 'info' : 'warning';
        keyEvent$.next({ level, message: `${component.name}: ${sentence}` });
      },
    };
    // The advice is about failIfBusy and worker processes; the bridge has neither.
    const publisher = new Publisher(options, '');
    const event$ = defer(() => published(component, publisher, host, shared));
    const about = { component: component.name, serverKeys: [component.serverKey] };
    return merge(keyEvent$, event$).pipe(
      map((event) => ({ ...event, about })),
      finalize(() => {
        publisher.close();
      }),
    );
  });
}

function published(
  component: ComponentConfig,
  publisher: Publisher,
  host: string,
  shared: Shared,
): Observable<TargetEvent> {
  const { name, index, serverKey, endpoint, selection, intervalMs } = component;
  const url = endpoint.url.href;
  const own = new OwnRoot(publisher, { host, number: index + 1, name, url });
  const { steadyMs } = shared;
  const keeper = new ComponentKeeper({ name, publisher, own, selection, steadyMs });
  publisher.place();
  const opened: TargetEvent = {
    level: 'info',
    message: `${name}: polling ${url}, publishing under server key ${serverKey}`,
  };
  const patience = {
    staleAfterMs: component.staleAfter * intervalMs,
    lostAfterMs: component.lostAfter * intervalMs,
  };
  const event$ = polls(component, shared).pipe(
    standing<Polled<PollOutcome>>(verdictOf, patience, shared.scheduler),
    concatMap((input) => keeper.take(input)),
  );
  return merge(of(opened), event$, heartbeat(publisher));
}

function polls(component: ComponentConfig, shared: Shared): Observable<Polled<PollOutcome>> {
  const { steadyMs, scheduler, lookup } = shared;
  const key = new KeyHolder(component);
  const once = () =>
    poll(() => fetchBody(component.endpoint, key.current(), lookup), component, shared).pipe(
      tap((outcome) => {
        const reason = outcome.kind === 'failed' ? outcome.failure.reason : undefined;
        key.isRefused = reason === 'unauthorized' || reason === 'no_key';
      }),
    );
  return polling(
    once,
    (outcome) => verdictOf({ outcome }) === 'failed',
    component,
    scheduler,
    steadyMs,
  );
}

/** The verdict on a poll. Only `failed` delays the next polls; a component without data is `gone`. */
function verdictOf({ outcome }: Pick<Polled<PollOutcome>, 'outcome'>): 'good' | 'gone' | 'failed' {
  if (outcome.kind === 'tree') return 'good';
  return outcome.failure.reason === 'no_data' ? 'gone' : 'failed';
}

interface PolledOnce {
  /** The tree as the text of a simulator scenario; empty after a failed poll. */
  readonly text: string;
  readonly remarks: readonly string[];
  readonly isGood: boolean;
}

/** Polls the components one after the other; publishes nothing. */
export function once(config: BridgeConfig, clocks: PollClocks): Observable<PolledOnce> {
  return from(config.components).pipe(
    concatMap((component) =>
      poll(() => fetchBody(component.endpoint, component.securityKey), component, clocks).pipe(
        map((outcome) => shown(outcome, component, config)),
      ),
    ),
  );
}

function shown(outcome: PollOutcome, component: ComponentConfig, config: BridgeConfig): PolledOnce {
  const { name, serverKey, selection, endpoint } = component;
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
      `${about}: ${pluralize(tree.objects.size, 'object')}, ${pluralize(tree.variableCount, 'variable')}; ${took}`,
      `${name}: to be published under server key ${serverKey}: ${pluralize(objects.size, 'object')}, ${pluralize(published, 'variable')}`,
      ...unmatchedPatterns(component, tree).map((sentence) => `${name}: ${sentence}`),
      ...odd.map(([oddity, count]) => `${name}: ${count} ${oddity.replaceAll('_', ' ')}`),
      ...tree.unknownTypes.map((type) => `${name}: unknown type ${JSON.stringify(type)}`),
    ],
    isGood: true,
  };
}
