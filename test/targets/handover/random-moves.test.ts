// Random moves, redefinitions and publisher losses of one target, checked against the published values.
import { expect } from 'chai';
import fc from 'fast-check';
import { map } from 'rxjs';
import type { DemandAnswer } from '#app/model.js';
import type { Publisher } from '#app/native/publisher/publisher.js';
import type { LogicalPartition } from '#app/targets/partitions/logical-partition.js';
import { TaskQueue } from '#app/streams/task-queue.js';
import { definitionOf } from '../../support/definition-of.js';
import { follow } from '../../support/follow.js';
import { schedulerOf } from '../../support/scheduler-of.js';
import { Publishers } from '../../support/publishers.js';
import { Served, seriesOf } from '../../support/served.js';

const SPACING_MS = 50;
/** The time between two tasks of a partition. */
const TURN_MS = 2;
/** The possible delay of an interval that the new partition takes over. */
const SLACK_MS = 20;
const SETTLED_MS = 10_000;

type StepName = (typeof STEPS)[number];
const STEPS = ['set', 'notify', 'demand', 'wait', 'move', 'redefine', 'close', 'open'] as const;
const scripts = fc.array(
  fc.record({
    step: fc.oneof(
      {
        weight: 9,
        arbitrary: fc.constantFrom<StepName>('set', 'demand', 'wait', 'move', 'redefine'),
      },
      { weight: 1, arbitrary: fc.constantFrom(...STEPS) },
    ),
    number: fc.nat(30),
  }),
  { minLength: 1, maxLength: 60 },
);
const SMALL = { seedPaths: ['@root'], renderMinIntervalMs: SPACING_MS };
const LARGE = { renderMinIntervalMs: SPACING_MS };

/** A published value, and the time until which it was current. */
interface Shown {
  readonly value: number;
  untilMs: number;
}

/** A target, three partitions, its publisher, and the history of published values. */
class Simulation {
  readonly #publishers = new Publishers();
  readonly #served: Served;
  readonly #partitions: readonly LogicalPartition[];
  /** The answers to each demand. */
  readonly #answers: ('ready' | 'waiting')[][] = [];
  readonly #shown: Shown[] = [];
  #publisher: { readonly set: (value: number) => void; readonly made: Publisher } | undefined;
  /** Whether the target has been ready since its publisher opened. */
  #wasReady = false;

  constructor() {
    this.#open();
    this.#served = new Served(this.#publishers, LARGE);
    const { clock } = this.#served;
    this.#partitions = [1, 2, 3].map((number) => {
      const queue = new TaskQueue(schedulerOf(clock, TURN_MS), () => clock.now());
      return this.#served.partition(number, queue);
    });
    clock.advance(SETTLED_MS);
  }

  readonly steps: Readonly<Record<StepName, (number: number) => void>> = {
    set: () => {
      this.#set();
    },
    notify: () => {
      this.#publisher?.made.notify();
    },
    wait: (number) => {
      this.#served.clock.advance(number);
    },
    demand: () => {
      const answers: ('ready' | 'waiting')[] = [];
      this.#answers.push(answers);
      follow(
        this.#served.target.demand().pipe(map((each) => answers.push(this.#checkAnswer(each)))),
      );
    },
    move: (number) => {
      const partition = this.#partitions[number % this.#partitions.length];
      if (partition !== undefined) follow(this.#served.target.change({ partition }));
    },
    redefine: (number) => {
      const definition = definitionOf(number % 2 === 0 ? SMALL : LARGE);
      follow(this.#served.target.change({ definition }));
    },
    close: () => {
      this.#publisher?.made.close();
      this.#publisher = undefined;
      this.#wasReady = false;
      this.#outdate();
    },
    open: () => {
      if (this.#publisher === undefined) this.#open();
    },
  };

  /** Checks that no answer is missing, and that hits and misses add up to the ready answers. */
  end(): void {
    const { clock, target, memory } = this.#served;
    clock.advance(SETTLED_MS);
    for (const answers of this.#answers) expect(answers, 'one answer a demand').to.have.length(1);
    const counted = target
      .internal()
      .filter(({ name }) => /render_cache_(hits|misses)_total/.test(name))
      .reduce((sum, { value }) => sum + Number(value), 0);
    expect(counted).to.equal(this.#answers.filter(([answer]) => answer === 'ready').length);
    this.steps.demand(0);
    clock.advance(SETTLED_MS);
    const last = this.#publisher === undefined ? 'waiting' : 'ready';
    expect(this.#answers.at(-1)).to.deep.equal([last]);
    this.leave();
    expect(memory.isOpen).to.equal(0);
  }

  leave(): void {
    this.#served.leave();
    this.#publishers.closeAll();
  }

  #checkAnswer(answer: DemandAnswer): 'ready' | 'waiting' {
    if (answer.kind === 'waiting') {
      expect(this.#wasReady, 'never not ready once ready').to.equal(false);
      return 'waiting';
    }
    const values = seriesOf(answer).map((line) => Number(line.split(' ')[1]));
    expect(values.length, 'the series of one definition').to.be.within(1, 2);
    expect(new Set(values).size, 'values of one moment').to.equal(1);
    const nowMs = this.#served.clock.now();
    const fitting = this.#shown
      .filter(({ untilMs }) => untilMs >= nowMs - SPACING_MS - SLACK_MS)
      .map(({ value }) => value);
    expect(fitting).to.include(values[0]);
    this.#wasReady = this.#publisher !== undefined;
    return 'ready';
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
    this.#set();
    made.place();
  }

  #set(): void {
    if (this.#publisher === undefined) return;
    this.#outdate();
    const value = this.#shown.length + 1;
    this.#publisher.set(value);
    this.#shown.push({ value, untilMs: Infinity });
  }

  #outdate(): void {
    const last = this.#shown.at(-1);
    if (last?.untilMs === Infinity) last.untilMs = this.#served.clock.now();
  }
}

describe('a target that moves, changes and loses its publisher at random', () => {
  it('answers every demand once, with values that were current since the last due render', () =>
    fc.assert(
      fc.property(scripts, (script) => {
        const simulation = new Simulation();
        try {
          for (const { step, number } of script) simulation.steps[step](number);
          simulation.end();
        } finally {
          simulation.leave();
        }
      }),
      { numRuns: 40 },
    ));
});
