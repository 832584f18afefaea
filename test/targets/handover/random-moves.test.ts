// Compares the answers of one target with the published values while it moves, is redefined, fails and
// loses its publisher at random. Its partitions are slow.
import { expect } from 'chai';
import fc from 'fast-check';
import { Observable, finalize, map, tap } from 'rxjs';
import type { Subscription } from 'rxjs';
import { messageOf } from '#app/errors.js';
import type { DemandAnswer, FoundRoot } from '#app/model.js';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { openReadable } from '#app/native/os/shared-memory.js';
import type { SharedMemory } from '#app/native/os/shared-memory.js';
import type { Publisher } from '#app/native/publisher/publisher.js';
import { TaskQueue } from '#app/streams/scheduler.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import { PARTITION_RETRY_MS } from '#app/targets/handover.js';
import type { HostedTarget, Partition } from '#app/targets/partitions/logical-partition.js';
import type { ThreadSetup } from '#app/targets/threads/messages.js';
import { MAX_SILENCE_MS, ThreadedPartition } from '#app/targets/threads/threaded-partition.js';
import { definitionOf } from '../../support/definition-of.js';
import { FailingPartition } from '../../support/failing-partition.js';
import { EXIT_MS, FakeThread, MESSAGE_MS } from '../../support/fake-thread.js';
import { follow } from '../../support/follow.js';
import { MODES } from '../../support/modes.js';
import type { Mode } from '../../support/modes.js';
import { schedulerOf } from '../../support/scheduler-of.js';
import { Publishers } from '../../support/publishers.js';
import { Served, seriesOf } from '../../support/served.js';

const SPACING_MS = 50;
/** The time between two slices of each partition's tasks. Demands stay open for about that time. */
const TURNS_MS = [0, 7, 40];
/** By this time all demands are answered, even if a thread hangs and its partition then fails again. */
const SETTLED_MS = 2 * (MAX_SILENCE_MS + PARTITION_RETRY_MS + EXIT_MS);

/**
 * Shared memory in which every publisher counts as live, because checking a real lock takes longer than a
 * step of the simulation.
 */
const UNLOCKED: SharedMemory = {
  open(name) {
    const file = openReadable(name);
    const rest = { askLock: (answer: (isLocked: boolean) => void) => answer(true) };
    return file && { ...file, ...rest, wait: () => () => undefined };
  },
};
/** All simulations share this kernel, because creating a kernel takes longer than running a simulation. */
const KERNEL = new Kernel();
const SMALL = definitionOf({ seedPaths: ['@root'], renderMinIntervalMs: SPACING_MS });
const LARGE = definitionOf({ renderMinIntervalMs: SPACING_MS });
const seriesUnder = ({ seedPaths }: TargetDefinition): number =>
  seedPaths.length === SMALL.seedPaths.length ? 1 : 2;

type StepName = keyof Simulation['steps'];
/** The steps, with their weights. */
const STEPS = [
  ...[['demand', 9] as const, ['again', 3] as const, ['wait', 9] as const, ['set', 3] as const],
  ...[['move', 4] as const, ['redefine', 2] as const, ['leave', 1] as const, ['fail', 2] as const],
  ...[
    ['repair', 1] as const,
    ['hang', 1] as const,
    ['pause', 1] as const,
    ['rival', 1] as const,
    ['notify', 1] as const,
  ],
  ...[['close', 1] as const, ['open', 1] as const],
];
const scripts = fc.array(
  fc.record({
    step: fc.oneof(
      ...STEPS.map(([step, weight]) => ({ weight, arbitrary: fc.constant<StepName>(step) })),
    ),
    number: fc.nat(50),
  }),
  { minLength: 1, maxLength: 400, size: 'max' },
);

/** A value or a definition, and the time until which it was in use. */
interface Past<T> {
  readonly value: T;
  untilMs: number;
}

interface Demand {
  readonly atMs: number;
  readonly answers: DemandAnswer['kind'][];
  subscription: Subscription | undefined;
  hasLeft: boolean;
}

/** A partition that checks the refreshes of its targets and records their definitions. */
class WatchedPartition extends FailingPartition {
  readonly #started: (definition: TargetDefinition) => () => void;
  readonly #report: (wrong: string) => void;

  constructor(
    inner: Partition,
    started: (definition: TargetDefinition) => () => void,
    report: (wrong: string) => void,
  ) {
    super(inner);
    this.#started = started;
    this.#report = report;
  }

  override host(definition: TargetDefinition, formerRoot?: FoundRoot): HostedTarget {
    const hosted = super.host(definition, formerRoot);
    let [isRunning, isOpen] = [false, false];
    return {
      ...hosted,
      report$: new Observable((subscriber) => {
        const ended = this.#started(definition);
        isRunning = true;
        const report$ = hosted.report$.pipe(
          tap(({ kind }) => {
            if (kind !== 'refreshed') return;
            if (!isOpen) this.#report('a report answers no refresh');
            isOpen = false;
          }),
          finalize(() => {
            isRunning = isOpen = false;
            ended();
          }),
        );
        return report$.subscribe(subscriber);
      }),
      refresh: (refresh) => {
        if (isOpen) this.#report('two refreshes are open');
        isOpen = isRunning;
        return hosted.refresh(refresh);
      },
    };
  }
}

/** A target with its partitions and its publisher, and the history of its values and definitions. */
class Simulation {
  readonly #publishers = new Publishers();
  readonly #served: Served;
  readonly #partitions: readonly WatchedPartition[];
  /** The latest thread of each partition. */
  readonly #threads = new Map<number, FakeThread>();
  readonly #demands: Demand[] = [];
  readonly #shown: Past<number>[] = [];
  readonly #defined: Past<TargetDefinition>[] = [];
  #publisher: { readonly set: (value: number) => void; readonly made: Publisher } | undefined;
  /**
   * Violations of the rules by answers and refreshes. They are recorded instead of thrown, because an error
   * would count as a failure of the target.
   */
  readonly #wrong: string[] = [];
  /** The first value that the present publisher stored. */
  #firstValue = 1;
  /** Whether the target has been ready since its publisher started and since its partition last failed. */
  #wasReady = false;
  /** Whether the target has shown a value of the present publisher. */
  #hasRoot = false;

  constructor(private readonly mode: Mode) {
    this.#open();
    this.#served = new Served(this.#publishers, LARGE, { kernel: KERNEL, memory: UNLOCKED });
    const { clock } = this.#served;
    this.#partitions = TURNS_MS.map((turnMs, index) => {
      return new WatchedPartition(
        this.#partition(index + 1, turnMs),
        (definition) => this.#define(definition),
        (wrong) => this.#wrong.push(wrong),
      );
    });
    clock.advance(SETTLED_MS);
    this.steps.move(0);
    clock.advance(SETTLED_MS);
  }

  readonly steps = {
    set: (): void => {
      this.#set();
    },
    notify: (): void => {
      this.#publisher?.made.notify();
    },
    wait: (number: number): void => {
      this.#served.clock.advance(number);
    },
    pause: (number: number): void => {
      this.#served.clock.advance(PARTITION_RETRY_MS + number);
    },
    demand: (): void => {
      this.#demand();
    },
    again: (): void => {
      this.#demand(() => {
        this.#demand();
      });
    },
    leave: (number: number): void => {
      const open = this.#demands.filter(({ subscription }) => subscription?.closed === false);
      const demand = open[number % Math.max(1, open.length)];
      if (demand === undefined) return;
      demand.hasLeft = true;
      demand.subscription?.unsubscribe();
    },
    move: (number: number): void => {
      const partition = this.#partitions[number % this.#partitions.length];
      if (partition !== undefined) follow(this.#served.target.change({ partition }));
    },
    redefine: (number: number): void => {
      const definition = number % 2 === 0 ? SMALL : LARGE;
      follow(this.#served.target.change({ definition }));
    },
    fail: (number: number): void => {
      const partition = this.#failing(number);
      if (this.#served.target.status().partition === partition.number) this.#wasReady = false;
      partition.trouble = number % 2 === 0 ? 'broken' : '';
      const thread = this.#threads.get(partition.number);
      if (thread !== undefined && number % 5 === 0) thread.fail(new Error('torn'));
      else partition.fail('torn');
    },
    hang: (number: number): void => {
      const partition = this.#failing(number);
      if (this.#served.target.status().partition === partition.number) this.#wasReady = false;
      this.#threads.get(partition.number)?.hang();
    },
    repair: (): void => {
      for (const partition of this.#partitions) partition.trouble = '';
    },
    rival: (): void => {
      if (this.#publisher === undefined || !this.#hasRoot) return;
      // If the target did not know its former root, it would choose this root.
      const root = this.#publisher.made.addRoot('H.0.demo', 'Root');
      this.#publisher.made.addVariable(root, 'x', 'u64').set(1e9);
    },
    close: (): void => {
      this.#publisher?.made.close();
      this.#publisher = undefined;
      this.#wasReady = this.#hasRoot = false;
      this.#outdate(this.#shown);
    },
    open: (): void => {
      if (this.#publisher === undefined) this.#open();
    },
  };

  step(step: StepName, number: number): void {
    this.steps[step](number);
    if (this.#wasReady) expect(this.#served.target.status().isReady, 'stays ready').to.equal(true);
    expect(this.#wrong.join()).to.equal('');
  }

  /**
   * Once nothing is left to do, checks that every demand has an answer, and that hits and misses add up to
   * the ready answers.
   */
  end(): void {
    const { clock, target, memory } = this.#served;
    this.steps.repair();
    clock.advance(SETTLED_MS);
    this.#checkDemands();
    const counted = target
      .internal()
      .filter(({ name }) => /render_cache_(hits|misses)_total/.test(name))
      .reduce((sum, { value }) => sum + Number(value), 0);
    const ready = this.#demands.filter(({ answers }) => answers[0] === 'ready');
    expect(counted).to.equal(ready.length);
    const running = this.#defined.filter(({ untilMs }) => untilMs === Infinity);
    expect(running, 'one hosting runs').to.have.length(1);
    const last = this.#demand();
    clock.advance(SETTLED_MS);
    this.#checkDemands();
    expect(last.answers).to.deep.equal([this.#publisher === undefined ? 'waiting' : 'ready']);
    // Remove the target while one demand is in progress and another one waits.
    this.#demand();
    this.#demand();
    this.#wasReady = false;
    this.leave();
    this.#checkDemands();
    clock.advance(EXIT_MS);
    expect(memory.isOpen).to.equal(0);
  }

  leave(): void {
    this.#served.leave();
    for (const partition of this.#partitions) partition.close();
    this.#publishers.closeAll();
  }

  /** Creates a partition whose tasks run a slice every `turnMs`. */
  #partition(number: number, turnMs: number): Partition {
    const { clock, memory } = this.#served;
    if (this.mode === 'logical')
      return this.#served.partition(
        number,
        new TaskQueue(schedulerOf(clock, turnMs), () => clock.now()),
      );
    const { contextId } = this.#publishers;
    const start = (setup: ThreadSetup): FakeThread => {
      const thread = new FakeThread(clock, setup, turnMs);
      this.#threads.set(number, thread);
      return thread;
    };
    return new ThreadedPartition({ number, contextId, poolName: 'pool' }, memory, start, clock);
  }

  /**
   * Returns the partition that serves the target, the partition that the target moves to, or any partition.
   */
  #failing(number: number): WatchedPartition {
    const { target } = this.#served;
    const serving = target.status().partition;
    const chosen = [serving, target.assignment.partition.number][number % 3] ?? 1 + (number % 2);
    return this.#partitions[chosen - 1] ?? expect.fail('the home partition');
  }

  #demand(then: () => void = () => undefined): Demand {
    const atMs = this.#served.clock.now();
    const demand: Demand = { atMs, answers: [], subscription: undefined, hasLeft: false };
    this.#demands.push(demand);
    const answer$ = this.#served.target.demand().pipe(
      map((answer) => {
        demand.answers.push(answer.kind);
        try {
          this.#checkAnswer(answer, demand);
        } catch (error) {
          this.#wrong.push(messageOf(error));
        }
        then();
      }),
    );
    demand.subscription = follow(answer$).subscription;
    return demand;
  }

  #checkDemands(): void {
    expect(this.#wrong.join()).to.equal('');
    for (const { answers, hasLeft } of this.#demands)
      expect(answers, 'one answer a demand').to.have.length(hasLeft ? 0 : 1);
  }

  #checkAnswer(answer: DemandAnswer, { atMs }: Demand): void {
    if (answer.kind === 'waiting') {
      expect(this.#wasReady, 'never not ready once ready').to.equal(false);
      return;
    }
    const values = seriesOf(answer).map((line) => Number(line.split(' ')[1]));
    const since = <T>(past: readonly Past<T>[]): T[] =>
      past
        .filter(({ untilMs }) => untilMs >= atMs - SPACING_MS - MESSAGE_MS)
        .map(({ value }) => value);
    const sizes = since(this.#defined).map(seriesUnder);
    expect(sizes, 'the series of a definition').to.include(values.length);
    expect(new Set(values).size, 'values of one moment').to.equal(1);
    expect(since(this.#shown), 'a value since the last due render').to.include(values[0]);
    if (this.#publisher === undefined || (values[0] ?? 0) < this.#firstValue) return;
    this.#wasReady = this.#hasRoot = true;
  }

  #open(): void {
    const made = this.#publishers.make('82');
    const root = made.addRoot('H.1.demo', 'Root');
    const x = made.addVariable(root, 'x', 'u64');
    const y = made.addVariable(made.addObject(root, 'H.1.demo.c', 'Child'), 'y', 'u64');
    const set = (value: number): void => {
      x.set(value);
      y.set(value);
    };
    this.#publisher = { made, set };
    this.#firstValue = this.#shown.length + 1;
    this.#set();
    made.place();
  }

  #set(): void {
    if (this.#publisher === undefined) return;
    this.#outdate(this.#shown);
    const value = this.#shown.length + 1;
    this.#publisher.set(value);
    this.#shown.push({ value, untilMs: Infinity });
  }

  /** Records that a hosting with this definition runs. Returns a function that records its end. */
  #define(value: TargetDefinition): () => void {
    const defined = { value, untilMs: Infinity };
    this.#defined.push(defined);
    return () => {
      defined.untilMs = this.#served.clock.now();
    };
  }

  #outdate(past: readonly Past<unknown>[]): void {
    const last = past.at(-1);
    if (last?.untilMs === Infinity) last.untilMs = this.#served.clock.now();
  }
}

for (const mode of MODES)
  describe(`a target that moves, changes, fails and loses its publisher at random (${mode} mode)`, () => {
    it('answers every demand once, and never with a value older than the last render that was due', () =>
      fc.assert(
        fc.property(scripts, (script) => {
          const simulation = new Simulation(mode);
          try {
            for (const { step, number } of script) simulation.step(step, number);
            simulation.end();
          } finally {
            simulation.leave();
          }
        }),
        { numRuns: 8, endOnFailure: true },
      ));
  });
