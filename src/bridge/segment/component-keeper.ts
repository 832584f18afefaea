// Applies the polls of one component to its segment, and reports events.
import { pluralize } from '../../pluralize.js';
import type { TargetEvent } from '../../model.js';
import type { Publisher } from '../../native/publisher/publisher.js';
import { quoted } from '../../document/document.js';
import type { ComponentTree } from '../tree/component-tree.js';
import { Mirror } from './mirror.js';
import type { Changes } from './mirror.js';
import type { OwnRoot } from './own-root.js';
import type { Ageing, PollOutcome, Polled } from '../poll/poll.js';
import type { FailureReason, PollFailure } from '../poll/fetch-body.js';
import { RestartWatch } from '../tree/component-tree.js';
import type { TreeSelection } from '../tree/selection.js';

interface Keeping {
  /** The component's name, which begins each event. */
  readonly name: string;
  readonly publisher: Publisher;
  readonly own: OwnRoot;
  readonly selection: TreeSelection;
  /** Milliseconds of a monotonic clock. */
  readonly steadyMs: () => number;
}

/** The maximum number of unknown type names to report in the log; the bridge only counts further names. */
const MAX_REPORTED_TYPES = 20;
/** If this many polls in a row find a restart, two components probably share the address. */
const MANY_RESTARTS = 3;

type ReportEvent = (level: TargetEvent['level'], message: string) => void;

export class ComponentKeeper {
  readonly #keeping: Keeping;
  readonly #mirror: Mirror;
  readonly #watch = new RestartWatch();
  /** The conditions that hold. The log reports each when it begins. */
  readonly #conditions = new Set<string>();
  readonly #reportedTypes = new Set<string>();
  #goodAtMs: number | undefined;
  /** Why the last poll failed; empty after a success, undefined before the first poll. */
  #failure: FailureReason | '' | undefined;
  #restartsInRow = 0;

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
    this.#mirror = new Mirror(keeping.publisher);
  }

  /** Applies an input to the segment, wakes the readers once, and returns the events for the operator. */
  take(input: Polled<PollOutcome> | Ageing): readonly TargetEvent[] {
    const events: TargetEvent[] = [];
    const report: ReportEvent = (level, message) => {
      events.push({ level, message: `${this.#keeping.name}: ${message}` });
    };
    if ('kind' in input) this.#age(input, report);
    else this.#takePoll(input, report);
    this.#keeping.own.set('publishedObjects', this.#mirror.objectCount);
    this.#keeping.publisher.notify();
    return events;
  }

  #takePoll({ outcome, skipped }: Polled<PollOutcome>, report: ReportEvent): void {
    const { own } = this.#keeping;
    const seconds = outcome.durationMs / 1000;
    own.add('polls', 1);
    own.add('skippedPolls', skipped);
    own.add('receivedBytes', outcome.size.received);
    own.add('pollDurationSeconds', seconds);
    own.set('lastPollDurationSeconds', seconds);
    own.set('up', outcome.kind === 'tree');
    if (this.#begins('slow', skipped > 0))
      report(
        'warning',
        `a poll took ${Math.round(outcome.durationMs)} ms, longer than the interval; polls are skipped`,
      );
    if (outcome.kind === 'tree') this.#takeTree(outcome, report);
    else this.#takeFailure(outcome.failure, report);
  }

  #takeTree(outcome: Extract<PollOutcome, { kind: 'tree' }>, report: ReportEvent): void {
    const { own, selection, steadyMs } = this.#keeping;
    const { tree, askedAtMs, durationMs, size } = outcome;
    const start = steadyMs();
    this.#noteRestart(tree, report);
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
    const facts = `${pluralize(tree.objects.size, 'object')}, ${pluralize(tree.variableCount, 'variable')}, ${size.decoded} bytes in ${Math.round(durationMs)} ms`;
    const silence = this.#goodAtMs === undefined ? '' : ` after ${this.#silence(start)}`;
    if (this.#failure !== '') report('info', `received its tree${silence}: ${facts}`);
    else report('debug', `${facts}; ${pluralize(changes.changedValues, 'value')} changed`);
    this.#failure = '';
    this.#goodAtMs = start;
    this.#reportOdd(tree, changes, report);
  }

  #noteRestart(tree: ComponentTree, report: ReportEvent): void {
    const { own } = this.#keeping;
    const isRestart = this.#watch.sees(tree);
    this.#restartsInRow = isRestart ? this.#restartsInRow + 1 : 0;
    const isUnstable = this.#restartsInRow >= MANY_RESTARTS;
    if (this.#begins('restless', isUnstable))
      report(
        'warning',
        `a different process answers each poll: do two components share one address?`,
      );
    if (this.#begins('clock', this.#watch.isTimeAClock))
      report(
        'warning',
        'the start time in its tree changes at every poll, so restarts cannot be detected from it',
      );
    if (!isRestart) return;
    own.add('restarts', 1);
    own.add('removedObjects', this.#mirror.clear());
    if (!isUnstable) report('info', 'it was restarted: all its objects are new');
  }

  #takeFailure(failure: PollFailure, report: ReportEvent): void {
    const { own } = this.#keeping;
    own.countFailure(failure.reason);
    const isGone = failure.reason === 'no_data';
    if (isGone) this.#clear();
    const isKnown = this.#failure === failure.reason;
    this.#failure = failure.reason;
    if (isKnown) {
      report('debug', `no tree (${failure.reason}): ${failure.message}`);
      return;
    }
    const left = this.#mirror.objectCount > 0 ? '; its last tree stays published for now' : '';
    report('warning', `no tree (${failure.reason}): ${failure.message}${left}`);
  }

  #age({ kind }: Ageing, report: ReportEvent): void {
    const { own, steadyMs } = this.#keeping;
    const silence = this.#silence(steadyMs());
    if (kind === 'stale') {
      this.#mirror.markStale();
      own.set('isStale', true);
      report('warning', `no tree for ${silence}: its roots now have the state auto_recovery`);
    } else {
      this.#clear();
      report(
        'warning',
        `no tree for ${silence}: its roots are removed until the next successful poll`,
      );
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

  #reportOdd(
    { oddities, unknownTypes }: ComponentTree,
    { dropped }: Changes,
    report: ReportEvent,
  ): void {
    if (this.#begins('full', dropped > 0))
      report('warning', `${dropped} objects and variables do not fit in the segment`);
    for (const [oddity, count] of Object.entries(oddities))
      if (this.#begins(oddity, count > 0))
        report('info', `its tree has ${count} ${oddity.replaceAll('_', ' ')}`);
    for (const name of unknownTypes) {
      if (this.#reportedTypes.has(name) || this.#reportedTypes.size >= MAX_REPORTED_TYPES) continue;
      this.#reportedTypes.add(name);
      report(
        'warning',
        `type ${quoted(name)} is unknown; its values are published with their JSON types`,
      );
    }
  }

  /** Notes whether a condition holds. Returns true if it begins. */
  #begins(condition: string, holds: boolean): boolean {
    const isNew = holds && !this.#conditions.has(condition);
    if (holds) this.#conditions.add(condition);
    else this.#conditions.delete(condition);
    return isNew;
  }

  #silence(nowMs: number): string {
    return `${Math.round((nowMs - (this.#goodAtMs ?? nowMs)) / 1000)} s`;
  }
}
