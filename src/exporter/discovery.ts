// Discovers targets on this host, for the table `[discover]`, and removes them after their publishers have ended.
import {
  NEVER,
  asyncScheduler,
  concat,
  concatMap,
  defer,
  exhaustMap,
  filter,
  finalize,
  from,
  map,
  of,
  timer,
  toArray,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { monotonicMs } from '../clock.js';
import type { Discover } from '../config/file-rule.js';
import { quoted } from '../document/document.js';
import type { Target } from '../model.js';
import { hasEnded } from '../sinks/sink.js';
import { application } from '../rules/formats.js';
import { runToEnd } from '../run-to-end.js';
import type { Finder, Found, FoundTarget } from '../streams/poller.js';
import type { Scheduler } from '../streams/scheduler.js';

export interface DiscoveredTarget extends FoundTarget {
  readonly format: string;
}

export interface Discovered {
  readonly targets: readonly DiscoveredTarget[];
  /** The reasons why publishers were left out, one sentence each. */
  readonly leftOut: readonly string[];
  /** False until the first pass has ended. */
  readonly isComplete: boolean;
}

/** The name of a discovered target in messages. */
export const discoveredName = ({ app, serverKey, instance }: DiscoveredTarget): string =>
  [`${app} on ${serverKey}`, instance].filter((part) => part !== '').join(', root ');

/** What identifies a target: two discoveries of it are one target. */
type Identity = Pick<DiscoveredTarget, 'format' | 'app' | 'serverKey' | 'instance'>;

interface DiscoveryParts {
  /** Makes the finder of a format. */
  readonly finder: (format: string, discover: Discover) => Finder;
  /** The current targets of the exporter. */
  readonly targets: () => readonly Target[];
  /** Runs the finders in slices. */
  readonly tasks: Scheduler;
  readonly scheduler?: SchedulerLike;
  /** Milliseconds of a monotonic clock; by default CLOCK_MONOTONIC. */
  readonly nowMs?: () => number;
}

/** A target that was discovered, and is shown or forgotten. */
interface Entry {
  readonly target: DiscoveredTarget;
  /** The file of its last publisher. */
  file: string;
  /** The time at which another publisher took over; -Infinity for the first publisher. */
  renewedMs: number;
  /** The time of the first pass at which its publisher had ended; undefined while the publisher runs. */
  endedMs: number | undefined;
  /** Whether the target was removed. It stays removed until another file appears under its server key. */
  isForgotten: boolean;
}

/** The period of passes in milliseconds. A pass that takes longer skips the next one. */
const PERIOD_MS = 1000;
/** For this time after a new publisher took over, the state of the target may still be that of the last one. */
const STATE_MS = 3000;

const keyOf = ({ format, app, serverKey, instance }: Identity): string =>
  JSON.stringify([format, app, serverKey, instance]);

export class Discovery {
  readonly #parts: DiscoveryParts;
  readonly #entries = new Map<string, Entry>();
  /** The reasons of the last pass. */
  #leftOut: readonly string[] = [];

  constructor(parts: DiscoveryParts) {
    this.#parts = parts;
  }

  /**
   * Emits the discovered targets at once, and whenever they change. They persist across calls, so a reload does not
   * interrupt them. Never completes.
   * @param isConfigured whether a target of the configuration shows the same root, or may choose it
   */
  watch(
    discover: Discover,
    isConfigured: (target: DiscoveredTarget) => boolean,
  ): Observable<Discovered> {
    return defer(() => {
      const { finder, tasks, scheduler = asyncScheduler, nowMs = monotonicMs } = this.#parts;
      const formats = formatsOf(discover);
      for (const [key, { target }] of this.#entries)
        if (!formats.includes(target.format) || isConfigured(target)) this.#entries.delete(key);
      if (formats.length === 0) this.#leftOut = [];
      const first = of(this.#shown(this.#leftOut, formats.length === 0));
      if (formats.length === 0) return concat(first, NEVER);
      const finders = formats.map((format) => [format, finder(format, discover)] as const);
      const pass$ = from(finders).pipe(
        concatMap(([format, each]) =>
          tasks
            .run(() => each.find(this.#forgotten(format)))
            .pipe(map((found) => [format, found] as const)),
        ),
        toArray(),
        map((found) => this.#take(found, discover, isConfigured, nowMs())),
      );
      const changed$ = timer(0, PERIOD_MS, scheduler).pipe(
        exhaustMap(() => pass$),
        filter(hasChanged()),
      );
      return concat(first, changed$).pipe(
        finalize(() => {
          for (const [, each] of finders) each.close();
        }),
      );
    });
  }

  /** Runs one pass without a pause. */
  once(discover: Discover, isConfigured: (target: DiscoveredTarget) => boolean): Discovered {
    const found = formatsOf(discover).map((format) => {
      const finder = this.#parts.finder(format, discover);
      const result = runToEnd(finder.find(new Set()));
      finder.close();
      return [format, result] as const;
    });
    return this.#take(found, discover, isConfigured, 0);
  }

  /** Takes the result of a pass. */
  #take(
    all: readonly (readonly [format: string, found: Found])[],
    { forgetAfterSeconds, maxTargets }: Discover,
    isConfigured: (target: DiscoveredTarget) => boolean,
    nowMs: number,
  ): Discovered {
    const leftOut = all.flatMap(([, found]) => found.leftOut);
    const present = new Set<string>();
    let shown = this.#shown([], true).targets.length;
    for (const [format, { targets }] of all)
      for (const each of targets) {
        const target = { ...each, format };
        const key = keyOf(target);
        const known = this.#entries.get(key);
        if (isConfigured(target)) {
          if (known?.isForgotten === false) shown--;
          this.#entries.delete(key);
          continue;
        }
        present.add(key);
        if (known !== undefined && (!known.isForgotten || known.file === each.file)) {
          if (known.file !== each.file) known.renewedMs = nowMs;
          known.file = each.file;
          continue;
        }
        const refusal = this.#refusal(target, maxTargets - shown);
        if (refusal !== '') leftOut.push(refusal);
        else {
          const { file } = each;
          const entry = { target, file, renewedMs: -Infinity, endedMs: undefined };
          this.#entries.set(key, { ...entry, isForgotten: false });
          shown++;
        }
      }
    const ended = this.#endedTargets();
    for (const [key, entry] of this.#entries) {
      const isStateCurrent = nowMs - entry.renewedMs >= STATE_MS;
      const isEnded = !present.has(key) || (isStateCurrent && ended.has(key));
      if (!isEnded && !entry.isForgotten) entry.endedMs = undefined;
      else entry.endedMs ??= nowMs;
      const endedMs = entry.endedMs ?? nowMs;
      if (nowMs - endedMs < forgetAfterSeconds * 1000) continue;
      if (present.has(key)) entry.isForgotten = true;
      else this.#entries.delete(key);
    }
    this.#leftOut = leftOut;
    return this.#shown(leftOut, true);
  }

  /** Why a new target cannot be shown; empty if it can. */
  #refusal({ app, serverKey, instance }: DiscoveredTarget, room: number): string {
    const name = `root ${instance} on ${serverKey}`;
    if (application.read(app, [], () => undefined) === undefined)
      return `${name}: its application is ${quoted(app)}, allowed: ${application.allowed}`;
    return room > 0 ? '' : `${name}: there are max_targets targets`;
  }

  /** The server keys of a format whose targets have all been forgotten. */
  #forgotten(format: string): ReadonlySet<string> {
    const entries = [...this.#entries.values()].filter(({ target }) => target.format === format);
    const shown = new Set(
      entries.filter((each) => !each.isForgotten).map(({ target }) => target.serverKey),
    );
    return new Set(entries.map(({ target }) => target.serverKey).filter((key) => !shown.has(key)));
  }

  #shown(leftOut: readonly string[], isComplete: boolean): Discovered {
    const shown = [...this.#entries.values()].filter(({ isForgotten }) => !isForgotten);
    return { targets: shown.map(({ target }) => target), leftOut, isComplete };
  }

  /** The keys of targets whose publishers have ended. */
  #endedTargets(): ReadonlySet<string> {
    return new Set(
      this.#parts.targets().flatMap((target) => {
        if (!hasEnded(target)) return [];
        const { app, serverKeys, instance, format } = target;
        return keyOf({ format: format.name, app, serverKey: serverKeys[0] ?? '', instance });
      }),
    );
  }
}

const formatsOf = ({ native, hsperfdata, varnish }: Discover): readonly string[] => [
  ...(native.length > 0 ? ['native'] : []),
  ...(hsperfdata ? ['hsperfdata'] : []),
  ...(varnish ? ['varnish'] : []),
];

/** Returns a function that returns whether a result differs from the result of its last call. */
function hasChanged(): (discovered: Discovered) => boolean {
  let last = '';
  return ({ targets, leftOut }) => {
    const text = JSON.stringify([targets.map(keyOf), leftOut]);
    const isNew = text !== last;
    last = text;
    return isNew;
  };
}
