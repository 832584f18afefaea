// Builds the bridge from its configuration: one publisher, and one stream of polls, for each component.
import type { LookupFunction } from 'node:net';
import { concatMap, defer, finalize, map, merge, of, tap } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { TargetEvent } from '../model.js';
import { heartbeat } from '../native/publisher/heartbeat.js';
import { Publisher } from '../native/publisher/publisher.js';
import type { ComponentConfig } from './settings/component-config.js';
import { ComponentKeeper } from './segment/component-keeper.js';
import type { BridgeConfig } from './settings/configuration.js';
import { fetchBody } from './poll/fetch-body.js';
import { KeyHolder } from './settings/key-holder.js';
import { OwnRoot } from './segment/own-root.js';
import { NameLookup } from './poll/name-lookup.js';
import { poll } from './poll/poll.js';
import type { Outcome } from './poll/poll.js';
import { polling } from './poll/polling.js';
import type { Polled } from './poll/polling.js';
import { capacityFor } from './segment/segment-capacity.js';
import { standing } from './poll/standing.js';

/** What the bridge needs from its process. */
export interface Around {
  readonly pid: number;
  readonly unixMs: () => number;
  /** A clock that does not step. */
  readonly steadyMs: () => number;
  readonly scheduler: SchedulerLike;
}

/** Shared by all components. */
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
    const publisher = new Publisher({
      contextId,
      poolName,
      serverKey: component.serverKey,
      pid: shared.pid,
      realtimeNs: () => BigInt(shared.unixMs()) * 1_000_000n,
      capacity: capacityFor(component.limits),
    });
    return defer(() => published(component, publisher, host, shared)).pipe(
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
  const { name, number, serverKey, endpoint, selection, patience } = component;
  const url = endpoint.url.href;
  const own = new OwnRoot(publisher, { host, number, name, url });
  const { steadyMs } = shared;
  const keeper = new ComponentKeeper({ name, publisher, own, selection, steadyMs });
  publisher.place();
  const opened: TargetEvent = {
    level: 'info',
    message: `${name}: polling ${url}, publishing under server key ${serverKey}`,
  };
  const event$ = polls(component, shared).pipe(
    standing<Polled<Outcome>>(verdictOf, patience, shared.scheduler),
    concatMap((input) => keeper.take(input)),
  );
  const about = { component: name, serverKeys: [serverKey] };
  return merge(of(opened), event$, heartbeat(publisher)).pipe(
    map((event) => ({ ...event, about })),
  );
}

function polls(component: ComponentConfig, shared: Shared): Observable<Polled<Outcome>> {
  const { endpoint, limits, requestTimeoutMs, pace } = component;
  const { unixMs, steadyMs, scheduler, lookup } = shared;
  const key = new KeyHolder(component);
  const once = () =>
    poll(() => fetchBody(endpoint, key.current(), lookup), {
      ...{ limits, requestTimeoutMs, unixMs, steadyMs, scheduler },
    }).pipe(
      tap((outcome) => {
        const reason = outcome.kind === 'failed' ? outcome.failure.reason : undefined;
        key.isRefused = reason === 'unauthorized' || reason === 'no_key';
      }),
    );
  return polling(once, (outcome) => verdictOf({ outcome }) === 'failed', pace, scheduler, steadyMs);
}

/** A component that reports no data has not failed: it is polled at its usual interval. */
function verdictOf({ outcome }: Pick<Polled<Outcome>, 'outcome'>): 'good' | 'gone' | 'failed' {
  if (outcome.kind === 'tree') return 'good';
  return outcome.failure.reason === 'no_data' ? 'gone' : 'failed';
}
