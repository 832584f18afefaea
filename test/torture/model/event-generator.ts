// Generates random events on publishers and targets, and runs pending work between them in a seeded order.
import { messageOf } from '#app/errors.js';
import { segmentName } from '#app/native/segment/layout.js';
import type { DemandAnswer } from '#app/model.js';
import type { Random } from '#app/simulator/course.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import type { ServedTarget } from '#app/targets/served-target.js';
import { definitionOf } from '../../support/definition-of.js';
import { EVERY_ROW } from './every-row.js';
import { freshPage, pageOf } from './fresh-page.js';
import type { OpenDemand, PageChecker } from './page-checker.js';
import type { Interleavings, EventKind } from './interleavings.js';
import { isWhole } from './page-model.js';
import type { PageModel } from './page-model.js';
import type { ChangeKind } from './publication.js';
import { CONTEXT_ID, POOL_NAME } from './publications.js';
import type { Publications } from './publications.js';
import { tagOf } from './refresh-log.js';
import type { SeededClock } from './seeded-clock.js';
import { PARTITIONS } from './simulated-service.js';
import type { SimulatedService } from './simulated-service.js';

export const KEYS = ['k', 'l'] as const;
const KEY_SETS = [['k'], ['l'], ['k', 'l']] as const;
const FILTERS = [[], [], ['@root'], ['a'], ['a', 'b'], ['@root', 'b.a', 'c']] as const;
const SPACINGS = [0, 1, 20, 250] as const;
/**
 * After this time without events, all changes are bound, and the minimum render interval delays no render.
 */
const QUIET_MS = 4000;
/** Longer than the 5 s after which a partition with a failed thread restarts. */
const RESTART_MS = 6000;
const ANSWER_MS = 2000;

export interface GeneratorParts {
  readonly random: Random;
  readonly clock: SeededClock;
  readonly model: PageModel;
  readonly publications: Publications;
  readonly interleavings: Interleavings;
  readonly service: SimulatedService;
  readonly checker: PageChecker;
  /** Whether targets use a catalogue, which has every kind of row. */
  readonly hasCatalogue: boolean;
  readonly logEvent: (what: string) => void;
  readonly fail: (what: string) => void;
}

/** The relative frequency of each event. */
const EVENTS = {
  change: 30,
  changes: 6,
  churn: 5,
  notify: 8,
  demand: 16,
  demands: 4,
  move: 6,
  reload: 3,
  publish: 2,
  close: 1,
  kill: 1,
  root: 3,
  threadFailure: 2,
  settle: 1,
} as const;
type EventName = keyof typeof EVENTS;

export class EventGenerator {
  readonly #parts: GeneratorParts;
  readonly #spacings = new Map<string, number>();
  #definitions: readonly TargetDefinition[] = [];
  /** The number of target changes that are still in progress. */
  #openChanges = 0;
  /** The number of demands without an answer. */
  #openDemands = 0;
  #isQuiet = false;
  /** Whether a thread has failed since the last quiet period. */
  #hasThreadFailed = false;

  constructor(parts: GeneratorParts) {
    this.#parts = parts;
  }

  run(steps: number): void {
    const { random, clock } = this.#parts;
    this.#events.publish();
    this.#events.reload();
    for (let step = 0; step < steps; step++) {
      const kind = random.below(10);
      if (kind < 5) this.#runPendingWork();
      else if (kind === 5) clock.pass(random.below(random.below(10) === 0 ? 1500 : 30));
      else this.#events[this.#pickEvent()]();
    }
    this.#events.settle();
  }

  /** Runs a few pending tasks, and occasionally tasks that are due later. */
  #runPendingWork(): void {
    const { random, clock } = this.#parts;
    const endMs = random.below(8) === 0 ? Infinity : clock.now() + 3;
    for (let left = random.below(5); left >= 0; left--) clock.step(endMs);
  }

  /** Changes a tree while its values are copied. */
  changeDuringCopy(): void {
    const { publications } = this.#parts;
    if (this.#isQuiet) return;
    const key = this.#key();
    // Prefer the first value of a variable: the variable is already bound, but its cell still holds the
    // value of an earlier item.
    const kind = this.#parts.random.below(2) === 0 ? 'first value' : publications.randomChange();
    const done = publications.change(key, kind);
    this.#recordChange(key, kind, done, ' during a copy');
  }

  readonly #events: Readonly<Record<EventName, () => void>> = {
    change: () => {
      this.#changeTree(this.#key(), this.#parts.publications.randomChange());
    },
    changes: () => {
      const { random, publications } = this.#parts;
      // A burst of changes: all of one kind, such as many new objects or states, or of mixed kinds.
      const kind = random.below(3) === 0 ? undefined : publications.randomChange();
      const key = this.#key();
      for (let left = random.below(30); left >= 0; left--)
        this.#changeTree(key, kind ?? publications.randomChange());
    },
    churn: () => {
      const { random, clock } = this.#parts;
      const key = this.#key();
      const several = (kinds: readonly ChangeKind[], most: number): void => {
        for (let left = random.below(most); left >= 0; left--)
          this.#changeTree(key, kinds[random.below(kinds.length)] ?? 'set state');
      };
      several(['remove object', 'remove variable'], 8);
      several(['add object', 'add object', 'add variable'], 24);
      // Pass the time between two scrapes, in which a target binds new nodes.
      clock.pass(random.below(2000));
      several(['set state', 'set state', 'set'], 12);
    },
    notify: () => {
      const key = this.#key();
      this.#recordChange(key, 'notify', this.#parts.publications.notify(key));
    },
    publish: () => {
      const key = this.#key();
      this.#recordChange(key, 'publish', this.#parts.publications.publish(key));
    },
    close: () => {
      const key = this.#key();
      this.#recordChange(key, 'close', this.#parts.publications.close(key));
    },
    kill: () => {
      const key = this.#key();
      this.#recordChange(key, 'kill', this.#parts.publications.kill(key));
    },
    root: () => {
      const key = this.#key();
      const done = this.#parts.publications.toggleRoot(key);
      if (done !== undefined) this.#recordChange(key, `root ${done}`, '');
    },
    threadFailure: () => {
      this.#failThread(this.#parts.random.below(PARTITIONS));
    },
    demand: () => {
      const target = this.#target();
      if (target !== undefined) this.#demand(target);
    },
    demands: () => {
      const { random, clock } = this.#parts;
      const target = this.#target();
      for (let left = random.below(6); left >= 0 && target !== undefined; left--) {
        this.#demand(target);
        if (random.below(3) > 0) clock.step(clock.now() + 1);
        else if (random.below(3) === 0) this.#events.move();
      }
    },
    move: () => {
      const target = this.#target();
      const to = this.#parts.random.below(PARTITIONS);
      if (target === undefined) return;
      this.#logEvent(`${tagOf(target)}: moves to ${to}`);
      const tag = tagOf(target);
      this.#parts.interleavings.record('move', (each) => each === tag);
      const end = this.#parts.interleavings.begin('move', tag);
      this.#change((done) => {
        this.#parts.service.move(target, to, () => {
          end();
          done();
        });
      });
    },
    reload: () => {
      this.#reload();
    },
    settle: () => {
      this.#settle();
    },
  };

  #pickEvent(): EventName {
    const names = Object.keys(EVENTS) as EventName[];
    let left = this.#parts.random.below(Object.values(EVENTS).reduce((a, b) => a + b, 0));
    return names.find((name) => (left -= EVENTS[name]) < 0) ?? 'change';
  }

  #changeTree(key: string, kind: ChangeKind): void {
    this.#recordChange(key, kind, this.#parts.publications.change(key, kind));
  }

  #key(): string {
    return KEYS[this.#parts.random.below(KEYS.length)] ?? 'k';
  }

  #target(): ServedTarget | undefined {
    const { targets } = this.#parts.service;
    return targets[this.#parts.random.below(targets.length)];
  }

  /** Records an event on a publisher, unless `done` is undefined because nothing changed. */
  #recordChange(key: string, kind: EventKind, done: string | undefined, when = ''): void {
    if (done === undefined) return;
    this.#logEvent(`${key}: ${kind} ${done}${when}`);
    this.#parts.interleavings.record(kind, (tag) => tag.split('+').includes(key));
  }

  #logEvent(what: string): void {
    this.#parts.logEvent(`${this.#parts.clock.now()} ms ${what}`);
  }

  #change(begin: (done: () => void) => void): void {
    this.#openChanges++;
    begin(() => this.#openChanges--);
  }

  #reload(): void {
    const { random, service, checker, interleavings, hasCatalogue } = this.#parts;
    const catalogue = hasCatalogue ? EVERY_ROW : undefined;
    const former = new Set(this.#definitions.map(tagOf));
    this.#definitions = KEY_SETS.filter(() => random.below(8) > 0).map((serverKeys) => {
      const seedPaths = FILTERS[random.below(FILTERS.length)] ?? [];
      const renderMinIntervalMs = SPACINGS[random.below(SPACINGS.length)] ?? 0;
      return definitionOf({
        ...{ serverKeys, seedPaths, renderMinIntervalMs, catalogue },
        showUncatalogued: hasCatalogue,
      });
    });
    const present = this.#definitions.map(tagOf);
    // A removed target answers its open demands with "not ready".
    for (const tag of former) if (!present.includes(tag)) checker.forget(tag);
    for (const definition of this.#definitions) {
      const tag = tagOf(definition);
      if (!former.has(tag)) checker.forget(tag);
      this.#spacings.set(
        tag,
        Math.max(this.#spacings.get(tag) ?? 0, definition.renderMinIntervalMs),
      );
      this.#logEvent(
        `${tag}: [${definition.seedPaths.join()}] every ${definition.renderMinIntervalMs} ms`,
      );
    }
    interleavings.record('reload', () => true);
    const ends = present.map((tag) => interleavings.begin('reload', tag));
    this.#change((done) => {
      service.update(this.#definitions, () => {
        for (const end of ends) end();
        done();
      });
    });
  }

  #demand(target: ServedTarget): {
    readonly demand: OpenDemand;
    readonly answer: () => DemandAnswer | undefined;
    /** The page, if the demand was made in a quiet period and the answer is ready. */
    readonly page: () => string | undefined;
  } {
    const { model, checker, interleavings, fail } = this.#parts;
    const tag = tagOf(target);
    const demand = {
      target,
      tag,
      at: model.stamp(),
      renderMinIntervalMs: () => this.#spacings.get(tag) ?? 0,
    };
    let answer: DemandAnswer | undefined;
    let page: string | undefined;
    this.#logEvent(`${tag}: demand`);
    this.#openDemands++;
    interleavings.record('demand', (each) => each === tag);
    const end = interleavings.begin('demand', tag);
    const take = (exposition: DemandAnswer): void => {
      this.#openDemands--;
      end();
      if (answer !== undefined) fail(`${tag}: a demand has a second answer`);
      answer = exposition;
      this.#logEvent(`${tag}: ${exposition.kind}`);
      checker.checkAnswer(demand, exposition);
      // Copy the page now: after the answer, the memory of its text may be reused.
      if (this.#isQuiet && exposition.kind === 'ready') page = pageOf(exposition);
    };
    const error = (thrown: unknown): void => {
      fail(`${tag}: ${messageOf(thrown)}`);
    };
    target.demand().subscribe({ next: take, error });
    return { demand, answer: () => answer, page: () => page };
  }

  /** Ends the thread of a partition. Its targets are not ready until the partition restarts. */
  #failThread(number: number): void {
    const { service, checker, interleavings } = this.#parts;
    const targets = service.targets.filter((target) => target.status().partition === number);
    const tags = targets.map(tagOf);
    for (const tag of tags) checker.forget(tag);
    if (!service.hasThread(number)) return;
    interleavings.record('thread failure', (tag) => tags.includes(tag));
    service.failThread(number);
    this.#hasThreadFailed = true;
    this.#logEvent(`the thread of partition ${number} fails`);
  }

  /** Waits until all work is done, then compares pages with the model. */
  #settle(): void {
    const { random, clock, publications, service, checker, fail } = this.#parts;
    // Usually notify. Without a notification a standby rarely copies values, so its handover may not
    // complete.
    const isNotified = random.below(3) > 0;
    if (isNotified)
      for (const key of KEYS) {
        publications.complete(key);
        publications.notify(key);
      }
    this.#logEvent('quiet');
    this.#isQuiet = true;
    clock.pass(QUIET_MS + (this.#hasThreadFailed ? RESTART_MS : 0));
    this.#hasThreadFailed = false;
    if (this.#openDemands > 0) fail(`${this.#openDemands} demands without an answer`);
    const demands = service.targets.map((target) => this.#demand(target));
    clock.pass(ANSWER_MS);
    for (const { demand, answer, page } of demands) {
      checker.checkSettled(demand, answer());
      this.#compareWithFresh(demand, answer(), page());
    }
    if (isNotified && this.#isWhole) this.#checkPlaces();
    this.#isQuiet = false;
  }

  /** Compares a page of a quiet period with the page of a new view, which has no history. */
  #compareWithFresh(
    { tag, target }: OpenDemand,
    answer: DemandAnswer | undefined,
    page: string | undefined,
  ): void {
    // While a target changes, its earlier definition may still serve.
    if (answer === undefined || page === undefined || this.#openChanges > 0) return;
    const { publications, fail } = this.#parts;
    const { status } = answer;
    const file = publications.open(segmentName(CONTEXT_ID, POOL_NAME, status.serverKey));
    if (file === undefined) return;
    const fresh = freshPage(file, target.assignment.definition, status);
    file.close();
    if (fresh === page) return;
    const lines = new Set(fresh?.split('\n'));
    const odd = page.split('\n').find((line) => !lines.has(line)) ?? 'a line is missing';
    fail(`${tag}: its page differs from that of a fresh view: ${odd}`);
  }

  get #isWhole(): boolean {
    const trees = KEYS.map((key) => this.#parts.model.now(key));
    return trees.every((tree) => tree !== undefined && isWhole(tree));
  }

  /** Checks that every target is in its planned partition. */
  #checkPlaces(): void {
    const { service, fail } = this.#parts;
    if (this.#openChanges > 0) fail(`${this.#openChanges} changes of targets are not done`);
    for (const target of service.targets) {
      const { partition } = target.status();
      const { number } = target.assignment.partition;
      if (partition !== number) fail(`${tagOf(target)}: in partition ${partition}, not ${number}`);
    }
  }
}
