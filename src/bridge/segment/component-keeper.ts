// Keeps what the segment shows of one component: what each poll changes there, and what is told of it.
import type { TargetEvent } from '../../model.js';
import type { Publisher } from '../../native/publisher/publisher.js';
import { quoted } from '../../document/key-path.js';
import type { ComponentTree } from '../tree/component-tree.js';
import { Mirror } from './mirror.js';
import type { Changes } from './mirror.js';
import type { OwnRoot } from './own-root.js';
import type { Outcome } from '../poll/poll.js';
import type { PollFailure } from '../poll/poll-failure.js';
import type { Polled } from '../poll/polling.js';
import { RestartWatch } from '../tree/restart-watch.js';
import type { Selection } from '../tree/selection.js';
import type { Ageing } from '../poll/standing.js';
import { Turns } from './turns.js';

export interface Keeping {
  /** The component's name, which begins what is told of it. */
  readonly name: string;
  readonly publisher: Publisher;
  readonly own: OwnRoot;
  readonly selection: Selection;
  /** Milliseconds of a clock that does not step. */
  readonly steadyMs: () => number;
}

/** Unknown type names that are told of; more are only counted. */
const MAX_TYPES_TOLD = 20;
/** As many restarts in a row are no restarts. */
const MANY_RESTARTS = 3;

type Tell = (level: TargetEvent['level'], message: string) => void;

export class ComponentKeeper {
  readonly #keeping: Keeping;
  readonly #mirror: Mirror;
  readonly #watch = new RestartWatch();
  readonly #turns = new Turns();
  readonly #typesTold = new Set<string>();
  #goodAtMs: number | undefined;
  #restartsInRow = 0;

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
    this.#mirror = new Mirror(keeping.publisher);
  }

  /** Takes what happened into the segment, wakes its readers once, and says what an operator should know. */
  take(input: Polled<Outcome> | Ageing): readonly TargetEvent[] {
    const events: TargetEvent[] = [];
    const tell: Tell = (level, message) => {
      events.push({ level, message: `${this.#keeping.name}: ${message}` });
    };
    if ('kind' in input) this.#age(input, tell);
    else this.#takePoll(input, tell);
    this.#keeping.own.set('publishedObjects', this.#mirror.objectCount);
    this.#keeping.publisher.notify();
    return events;
  }

  #takePoll({ outcome, skipped }: Polled<Outcome>, tell: Tell): void {
    const { own } = this.#keeping;
    const seconds = outcome.durationMs / 1000;
    own.add('polls', 1);
    own.add('skippedPolls', skipped);
    own.add('receivedBytes', outcome.size.received);
    own.add('pollDurationSeconds', seconds);
    own.set('lastPollDurationSeconds', seconds);
    own.set('up', outcome.kind === 'tree');
    if (this.#turns.to('slow', skipped > 0) && skipped > 0)
      tell(
        'warning',
        `a poll took ${Math.round(outcome.durationMs)} ms, longer than the interval; polls are skipped`,
      );
    if (outcome.kind === 'tree') this.#takeTree(outcome, tell);
    else this.#takeFailure(outcome.failure, tell);
  }

  #takeTree(outcome: Extract<Outcome, { kind: 'tree' }>, tell: Tell): void {
    const { own, selection, steadyMs } = this.#keeping;
    const { tree, askedAtMs, durationMs, size } = outcome;
    const start = steadyMs();
    this.#noteRestart(tree, tell);
    const changes = this.#mirror.show(selection(tree), BigInt(Math.round(askedAtMs)) * 1_000_000n);
    const storeSeconds = (steadyMs() - start) / 1000;
    own.add('storeDurationSeconds', storeSeconds);
    own.set('lastStoreDurationSeconds', storeSeconds);
    own.set('lastSuccessTimestampSeconds', askedAtMs / 1000);
    own.set('lastBodyBytes', size.decoded);
    own.set('objects', tree.objects.size);
    own.set('variables', tree.variableCount);
    own.set('isPublished', true);
    own.set('isStale', false);
    own.setOddities(tree.oddities);
    this.#count(changes);
    const facts = `${tree.objects.size} objects, ${tree.variableCount} variables, ${size.decoded} bytes in ${Math.round(durationMs)} ms`;
    const silence = this.#goodAtMs === undefined ? '' : ` after ${this.#silence(start)}`;
    if (this.#turns.to('trouble', '')) tell('info', `its tree is here${silence}: ${facts}`);
    else tell('debug', `${facts}; ${changes.changedValues} values changed`);
    this.#goodAtMs = start;
    this.#tellOdd(tree, changes, tell);
  }

  #noteRestart(tree: ComponentTree, tell: Tell): void {
    const { own } = this.#keeping;
    const isRestart = this.#watch.sees(tree);
    this.#restartsInRow = isRestart ? this.#restartsInRow + 1 : 0;
    const isRestless = this.#restartsInRow >= MANY_RESTARTS;
    if (this.#turns.to('restless', isRestless) && isRestless)
      tell('warning', `another process at each poll: do two components answer at one address?`);
    if (this.#turns.to('clock', this.#watch.isTimeAClock) && this.#watch.isTimeAClock)
      tell('warning', `time goes on from poll to poll, so it says nothing of restarts`);
    if (!isRestart) return;
    own.add('restarts', 1);
    own.add('removedObjects', this.#mirror.clear());
    if (!isRestless) tell('info', 'it was restarted: all its objects are new');
  }

  #takeFailure(failure: PollFailure, tell: Tell): void {
    const { own } = this.#keeping;
    own.countFailure(failure.reason);
    const isGone = failure.reason === 'no_data';
    if (isGone) this.#clear();
    if (!this.#turns.to('trouble', failure.reason)) {
      tell('debug', `no tree (${failure.reason}): ${failure.message}`);
      return;
    }
    const left = this.#mirror.objectCount > 0 ? '; its last tree stays for now' : '';
    tell('warning', `no tree (${failure.reason}): ${failure.message}${left}`);
  }

  #age({ kind }: Ageing, tell: Tell): void {
    const { own, steadyMs } = this.#keeping;
    const silence = this.#silence(steadyMs());
    if (kind === 'stale') {
      this.#mirror.markStale();
      own.set('isStale', true);
      tell('warning', `no tree for ${silence}: its roots are in auto_recovery`);
    } else {
      this.#clear();
      tell('warning', `no tree for ${silence}: its roots are removed until it shows one`);
    }
  }

  #clear(): void {
    const { own } = this.#keeping;
    own.add('removedObjects', this.#mirror.clear());
    own.set('isPublished', false);
    own.set('isStale', false);
  }

  #count({ addedObjects, removedObjects, changedValues, dropped }: Changes): void {
    const { own } = this.#keeping;
    own.add('addedObjects', addedObjects);
    own.add('removedObjects', removedObjects);
    own.add('changedValues', changedValues);
    own.set('dropped', dropped);
  }

  #tellOdd({ oddities, unknownTypes }: ComponentTree, { dropped }: Changes, tell: Tell): void {
    if (this.#turns.to('full', dropped > 0) && dropped > 0)
      tell('warning', `${dropped} objects and variables find no room in the segment`);
    for (const [oddity, count] of Object.entries(oddities))
      if (this.#turns.to(oddity, count > 0) && count > 0)
        tell('info', `its tree has ${count} ${oddity.replaceAll('_', ' ')}`);
    for (const name of unknownTypes) {
      if (this.#typesTold.has(name) || this.#typesTold.size >= MAX_TYPES_TOLD) continue;
      this.#typesTold.add(name);
      tell(
        'warning',
        `type ${quoted(name)} is not known; its values are published as JSON shows them`,
      );
    }
  }

  #silence(nowMs: number): string {
    return `${Math.round((nowMs - (this.#goodAtMs ?? nowMs)) / 1000)} s`;
  }
}
