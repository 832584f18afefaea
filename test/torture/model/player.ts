// Plays a course: events on publishers and targets, between which pending work is done in an order that a seed gives.
import { messageOf } from '#app/errors.js';
import type { Exposition } from '#app/model.js';
import type { Random } from '#app/simulator/course.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import type { ServedTarget } from '#app/targets/served-target.js';
import { definitionOf } from '../../support/definition-of.js';
import type { Asked, Judge } from './judge.js';
import type { Meetings, MomentKind } from './meetings.js';
import { isWhole } from './page-model.js';
import type { PageModel } from './page-model.js';
import type { Publications } from './publications.js';
import { tagOf } from './refresh-log.js';
import type { SeededClock } from './seeded-clock.js';
import { PARTITIONS } from './stage.js';
import type { Stage } from './stage.js';

export const KEYS = ['k', 'l'] as const;
const KEY_SETS = [['k'], ['l'], ['k', 'l']] as const;
const FILTERS = [[], [], ['@root'], ['a'], ['a', 'b'], ['@root', 'b.a', 'c']] as const;
const SPACINGS = [0, 1, 20, 250] as const;
/** After so long without an event all is taken in, and no spacing holds a render up. */
const QUIET_MS = 4000;
/** A partition whose thread died is tried again after 5 s. */
const REVIVED_MS = 6000;
const ANSWER_MS = 2000;

export interface PlayerParts {
  readonly random: Random;
  readonly clock: SeededClock;
  readonly model: PageModel;
  readonly publications: Publications;
  readonly meetings: Meetings;
  readonly stage: Stage;
  readonly judge: Judge;
  readonly say: (what: string) => void;
  readonly wrong: (what: string) => void;
}

/** What may happen, and how often in relation to the others. */
const EVENTS = {
  change: 30,
  changes: 4,
  notify: 8,
  demand: 16,
  demands: 4,
  move: 6,
  reload: 3,
  publish: 2,
  close: 1,
  kill: 1,
  root: 3,
  die: 2,
  settle: 1,
} as const;
type EventName = keyof typeof EVENTS;

export class Player {
  readonly #parts: PlayerParts;
  readonly #spacings = new Map<string, number>();
  #definitions: readonly TargetDefinition[] = [];
  /** Changes of targets that are not done yet. */
  #changing = 0;
  /** Demands that are not answered yet. */
  #asking = 0;
  #isQuiet = false;
  /** Whether a thread has died since it was quiet. */
  #hasDied = false;

  constructor(parts: PlayerParts) {
    this.#parts = parts;
  }

  play(steps: number): void {
    const { random, clock } = this.#parts;
    this.#events.publish();
    this.#events.reload();
    for (let step = 0; step < steps; step++) {
      const kind = random.below(10);
      if (kind < 5) this.#goOn();
      else if (kind === 5) clock.pass(random.below(random.below(10) === 0 ? 1500 : 30));
      else this.#events[this.#chosen()]();
    }
    this.#events.settle();
  }

  /** Does a little of the work that is pending, seldom of what is due only later. */
  #goOn(): void {
    const { random, clock } = this.#parts;
    const endMs = random.below(8) === 0 ? Infinity : clock.now() + 3;
    for (let left = random.below(5); left >= 0; left--) clock.step(endMs);
  }

  /** Changes a tree in the middle of something. */
  interrupt(): void {
    const { publications } = this.#parts;
    if (this.#isQuiet) return;
    const key = this.#key();
    // First values matter most: their items are known, and their cells hold what was there before.
    const kind = this.#parts.random.below(2) === 0 ? 'first value' : publications.randomChange();
    const done = publications.change(key, kind);
    this.#did(key, kind, done, ' during a copy');
  }

  readonly #events: Readonly<Record<EventName, () => void>> = {
    change: () => {
      const key = this.#key();
      const kind = this.#parts.publications.randomChange();
      this.#did(key, kind, this.#parts.publications.change(key, kind));
    },
    changes: () => {
      for (let left = this.#parts.random.below(12); left >= 0; left--) this.#events.change();
    },
    notify: () => {
      const key = this.#key();
      this.#did(key, 'notify', this.#parts.publications.notify(key));
    },
    publish: () => {
      const key = this.#key();
      this.#did(key, 'publish', this.#parts.publications.publish(key));
    },
    close: () => {
      const key = this.#key();
      this.#did(key, 'close', this.#parts.publications.close(key));
    },
    kill: () => {
      const key = this.#key();
      this.#did(key, 'kill', this.#parts.publications.kill(key));
    },
    root: () => {
      const key = this.#key();
      const done = this.#parts.publications.toggleRoot(key);
      if (done !== undefined) this.#did(key, `root ${done}`, '');
    },
    die: () => {
      this.#die(this.#parts.random.below(PARTITIONS));
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
      this.#say(`${tagOf(target)}: moves to ${to}`);
      const tag = tagOf(target);
      this.#parts.meetings.happens('move', (each) => each === tag);
      const end = this.#parts.meetings.begin('move', tag);
      this.#change((done) => {
        this.#parts.stage.move(target, to, () => {
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

  #chosen(): EventName {
    const names = Object.keys(EVENTS) as EventName[];
    let left = this.#parts.random.below(Object.values(EVENTS).reduce((a, b) => a + b, 0));
    return names.find((name) => (left -= EVENTS[name]) < 0) ?? 'change';
  }

  #key(): string {
    return KEYS[this.#parts.random.below(KEYS.length)] ?? 'k';
  }

  #target(): ServedTarget | undefined {
    const { targets } = this.#parts.stage;
    return targets[this.#parts.random.below(targets.length)];
  }

  /** Something was done to a publisher, unless there was none. */
  #did(key: string, kind: MomentKind, done: string | undefined, when = ''): void {
    if (done === undefined) return;
    this.#say(`${key}: ${kind} ${done}${when}`);
    this.#parts.meetings.happens(kind, (tag) => tag.split('+').includes(key));
  }

  #say(what: string): void {
    this.#parts.say(`${this.#parts.clock.now()} ms ${what}`);
  }

  #change(begin: (done: () => void) => void): void {
    this.#changing++;
    begin(() => this.#changing--);
  }

  #reload(): void {
    const { random, stage, judge, meetings } = this.#parts;
    const former = new Set(this.#definitions.map(tagOf));
    this.#definitions = KEY_SETS.filter(() => random.below(8) > 0).map((serverKeys) => {
      const seedPaths = FILTERS[random.below(FILTERS.length)] ?? [];
      const spacingMs = SPACINGS[random.below(SPACINGS.length)] ?? 0;
      return definitionOf({ serverKeys, seedPaths, spacingMs });
    });
    const present = this.#definitions.map(tagOf);
    // Those that go answer their demands that there is nothing to serve.
    for (const tag of former) if (!present.includes(tag)) judge.forget(tag);
    for (const definition of this.#definitions) {
      const tag = tagOf(definition);
      if (!former.has(tag)) judge.forget(tag);
      this.#spacings.set(tag, Math.max(this.#spacings.get(tag) ?? 0, definition.spacingMs));
      this.#say(`${tag}: [${definition.seedPaths.join()}] every ${definition.spacingMs} ms`);
    }
    meetings.happens('reload', () => true);
    const ends = present.map((tag) => meetings.begin('reload', tag));
    this.#change((done) => {
      stage.update(this.#definitions, () => {
        for (const end of ends) end();
        done();
      });
    });
  }

  #demand(target: ServedTarget): {
    readonly asked: Asked;
    readonly answer: () => Exposition | undefined;
  } {
    const { model, judge, meetings, wrong } = this.#parts;
    const tag = tagOf(target);
    const asked = { target, tag, at: model.stamp(), spacingMs: () => this.#spacings.get(tag) ?? 0 };
    let answer: Exposition | undefined;
    this.#say(`${tag}: demand`);
    this.#asking++;
    meetings.happens('demand', (each) => each === tag);
    const end = meetings.begin('demand', tag);
    const take = (exposition: Exposition): void => {
      this.#asking--;
      end();
      if (answer !== undefined) wrong(`${tag}: a second answer`);
      answer = exposition;
      this.#say(`${tag}: ${exposition.kind}`);
      judge.answered(asked, exposition);
    };
    const error = (thrown: unknown): void => {
      wrong(`${tag}: ${messageOf(thrown)}`);
    };
    target.demand().subscribe({ next: take, error });
    return { asked, answer: () => answer };
  }

  /** A thread dies: what it hosts is not ready for a while. */
  #die(number: number): void {
    const { stage, judge, meetings } = this.#parts;
    const targets = stage.targets.filter((target) => target.status().partition === number);
    const tags = targets.map(tagOf);
    for (const tag of tags) judge.forget(tag);
    if (!stage.hasThread(number)) return;
    meetings.happens('die', (tag) => tags.includes(tag));
    stage.die(number);
    this.#hasDied = true;
    this.#say(`the thread of partition ${number} dies`);
  }

  /** Lets all get quiet, and compares pages with what there is then. */
  #settle(): void {
    const { random, clock, publications, stage, judge, wrong } = this.#parts;
    // A standby copies values when its publisher tells that they changed, and seldom otherwise.
    const isTold = random.below(3) > 0;
    if (isTold)
      for (const key of KEYS) {
        publications.complete(key);
        publications.notify(key);
      }
    this.#say('quiet');
    this.#isQuiet = true;
    clock.pass(QUIET_MS + (this.#hasDied ? REVIVED_MS : 0));
    this.#hasDied = false;
    if (this.#asking > 0) wrong(`${this.#asking} demands without an answer`);
    const demands = stage.targets.map((target) => this.#demand(target));
    clock.pass(ANSWER_MS);
    for (const { asked, answer } of demands) judge.settled(asked, answer());
    if (isTold && this.#isWhole) this.#checkPlaces();
    this.#isQuiet = false;
  }

  get #isWhole(): boolean {
    const trees = KEYS.map((key) => this.#parts.model.now(key));
    return trees.every((tree) => tree !== undefined && isWhole(tree));
  }

  /** With all there, every target has got where it is to be. */
  #checkPlaces(): void {
    const { stage, wrong } = this.#parts;
    if (this.#changing > 0) wrong(`${this.#changing} changes of targets are not done`);
    for (const target of stage.targets) {
      const { partition } = target.status();
      const { number } = target.place.partition;
      if (partition !== number) wrong(`${tagOf(target)}: in partition ${partition}, not ${number}`);
    }
  }
}
