// Passages and blocks that two threads write, one of which the test is.
import { expect } from 'chai';
import { crcTables } from '#app/exposition/deflate/crc.js';
import { JOB_WORDS } from '#app/exposition/kernel/job.js';
import type { Job } from '#app/exposition/kernel/job.js';
import { Kernel, OP } from '#app/exposition/kernel/kernel.js';
import type { Assists } from '#app/exposition/kernel/kernel.js';
import { MAX_LINES } from '#app/exposition/kernel/block-shape.js';
import { secondInstance } from '#app/exposition/kernel/second-instance.js';
import { Desk, SLOTS } from '#app/exposition/kernel/threads/desk.js';
import { TaskWriter } from '#app/exposition/text/task-writer.js';
import { ExpositionText } from '#app/exposition/text/exposition-text.js';
import type { Forms, Snapshot } from '#app/model.js';
import { finished } from '../../support/finished.js';
import { Cells, cellLine } from '../../support/lines.js';
import { unpacked } from '../../support/unpacked.js';

const LINES = MAX_LINES;
const BLOCKS = 2 * SLOTS + 3;
/** The word of a desk that has the number of the next job. */
const NEXT = 1;
const FACTS = { name: 'shop', type: 'gauge', unit: '', help: 'About it.' } as const;
const FORMS = { text: true, deflated: true };
const TEXT = { text: true, deflated: false };

/** A text whose assistant does what the test has it do. */
class Shop implements Assists {
  readonly desk = new Desk();
  isThere = true;
  engagements = 0;
  isEngaged = false;
  readonly kernel: Kernel;
  readonly text: ExpositionText;
  readonly #cells: Cells;
  readonly #atStart: number;

  constructor(largeUs = 0) {
    this.kernel = new Kernel({ assistant: this });
    this.kernel.installCrcTables(crcTables());
    this.#cells = new Cells(this.kernel, LINES);
    expect(this.kernel.secondParts.memory).not.to.equal(undefined);
    this.#atStart = this.kernel.arena.used;
    this.text = new ExpositionText(
      this.kernel,
      undefined,
      () => true,
      new TaskWriter(this.kernel, largeUs),
    );
    for (let owner = 0; owner < BLOCKS * LINES; owner++) {
      const line = cellLine(`o="${owner}"`, this.#cells.of(owner % LINES), OP.f64);
      this.text.put(FACTS, 0, { owner, sub: 0 }, line);
    }
  }

  engage(): Desk | undefined {
    if (!this.isThere) return undefined;
    this.engagements++;
    this.isEngaged = true;
    return this.desk;
  }

  release(): void {
    this.isEngaged = false;
  }

  set(index: number, value: number): void {
    this.#cells.set(index, value);
  }

  get expected(): string {
    const value = (owner: number) => this.#cells.number(owner % LINES);
    return Array.from(
      { length: BLOCKS * LINES },
      (_, owner) => `shop{o="${owner}"} ${value(owner)}\n`,
    ).join('');
  }

  check(snapshot: Snapshot): void {
    const { expected } = this;
    const pieces = snapshot.families.flatMap(({ pieces }) => pieces);
    expect(Buffer.concat(pieces).toString() === expected, 'the text').to.equal(true);
    if (snapshot.forms.deflated)
      expect(unpacked(snapshot) === expected, 'the stream').to.equal(true);
  }

  render(forms: Forms = FORMS): void {
    this.check(finished(this.text.rendering(forms)));
  }

  close(): void {
    finished(this.text.closing());
    expect(this.isEngaged).to.equal(false);
    expect(this.kernel.arena.used).to.equal(this.#atStart);
  }
}

/** What the other thread would do its jobs with. */
function second(kernel: Kernel): (job: Job | undefined) => void {
  const { run, written } = secondInstance(kernel.secondParts);
  return (job) => {
    job?.carryOut(run, written);
    job?.tell();
  };
}

describe('passages and blocks of a large render', () => {
  const forms = [
    ['as text', TEXT],
    ['as parts of a stream', { text: false, deflated: true }],
    ['as both', FORMS],
  ] as const;
  for (const [name, wanted] of forms)
    it(`are written ${name} without an assistant the first time, and where little changed`, () => {
      const shop = new Shop(2000);
      shop.render(wanted);
      expect(shop.engagements, 'the first render').to.equal(0);
      shop.set(5, 1.5);
      shop.render(wanted);
      expect(shop.engagements, 'little').to.equal(0);
      for (let i = 0; i < LINES; i++) shop.set(i, i / 7);
      shop.render(wanted);
      expect(shop.engagements, 'much').to.equal(1);
      shop.close();
    });

  it('are much where a form is wanted that none has', () => {
    const shop = new Shop(2000);
    shop.render(TEXT);
    shop.render({ text: false, deflated: true });
    shop.render(TEXT);
    expect(shop.engagements).to.equal(2);
    shop.close();
  });

  it('are written where there is no assistant yet', () => {
    const shop = new Shop();
    shop.isThere = false;
    for (let i = 0; i < 3; i++) {
      shop.set(i, i + 0.5);
      shop.render();
    }
    shop.close();
  });

  it('are written by two threads', () => {
    const shop = new Shop();
    const other = second(shop.kernel);
    shop.render();
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < LINES; i += round + 1) shop.set(i, 10 ** round + i / 3);
      const steps = shop.text.rendering(FORMS);
      let done = 0;
      for (;;) {
        const { done: isOver, value } = steps.next();
        if (isOver === true) {
          shop.check(value);
          break;
        }
        for (let job = shop.desk.take(); job !== undefined; job = shop.desk.take()) {
          other(job);
          done++;
        }
      }
      expect(done, 'jobs of the other thread').to.be.greaterThan(5);
    }
    shop.close();
  });

  it('are waited for in small steps while the other thread is at one of them', () => {
    const shop = new Shop();
    const other = second(shop.kernel);
    shop.render();
    for (let i = 0; i < LINES; i++) shop.set(i, i / 3);
    const steps = shop.text.rendering(FORMS);
    let slow: Job | undefined;
    for (let step = 0; slow === undefined && step < 1000; step++) {
      expect(steps.next().done).to.equal(false);
      slow = shop.desk.take();
    }
    expect(slow).not.to.equal(undefined);
    for (let step = 0; step < 500; step++) expect(steps.next().done).to.equal(false);
    expect(shop.desk.take(), 'all else is done meanwhile').to.equal(undefined);
    other(slow);
    shop.check(finished(steps));
    shop.close();
  });

  it('that the assistant began and does not finish are written anew', () => {
    const shop = new Shop();
    const other = second(shop.kernel);
    shop.render();
    for (let i = 0; i < LINES; i++) shop.set(i, i / 3);
    const steps = shop.text.rendering(FORMS);
    let begun: Job | undefined;
    while (begun === undefined) {
      expect(steps.next().done).to.equal(false);
      begun = shop.desk.take();
    }
    // Its thread ends when it has done the work, and before it says so.
    other(begun);
    shop.desk.isLost = true;
    Atomics.store(shop.desk.words, doneOf(shop.desk, begun), 0);
    shop.check(finished(steps));
    shop.isThere = false;
    for (let round = 0; round < 3; round++) {
      shop.set(round, 1e9 + 0.5);
      shop.render();
    }
    shop.close();
  });

  for (const taken of [0, 1])
    it(`are given up when their target ends, with ${taken} of them in the other thread`, () => {
      const shop = new Shop();
      const other = second(shop.kernel);
      shop.render();
      for (let i = 0; i < LINES; i++) shop.set(i, i / 3);
      const steps = shop.text.rendering(FORMS);
      expect(steps.next().done).to.equal(false);
      const jobs = Array.from({ length: taken }, () => shop.desk.take());
      const closing = shop.text.closing();
      for (let step = 0; taken > 0 && step < 50; step++)
        expect(closing.next().done, 'as long as one is written').to.equal(false);
      expect(shop.isEngaged).to.equal(true);
      for (const job of jobs) other(job);
      finished(closing);
      shop.close();
    });

  for (const isAlone of [false, true])
    it(`are given up when there is no memory left, ${isAlone ? 'in one thread' : 'in two'}`, () => {
      let failures = 0;
      for (let good = 0; good < 30; good++) {
        const shop = new Shop();
        const { arena } = shop.kernel;
        shop.render();
        const release = finished(shop.text.rendering(FORMS)).hold();
        for (let i = 0; i < LINES; i++) shop.set(i, i / 3);
        shop.isThere = !isAlone;
        const take = arena.take.bind(arena);
        let taken = 0;
        arena.take = (bytes) => {
          if (taken++ === good) throw new Error('no memory');
          return take(bytes);
        };
        try {
          finished(shop.text.rendering(FORMS));
        } catch {
          failures++;
        }
        arena.take = take;
        release();
        shop.close();
      }
      expect(failures).to.equal(30);
    });

  it('are given up when the kernel fails', () => {
    const shop = new Shop();
    shop.render();
    for (let i = 0; i < LINES; i++) shop.set(i, i / 3);
    const steps = shop.text.rendering(FORMS);
    expect(steps.next().done).to.equal(false);
    const next = shop.desk.take();
    next?.renderAll(0x7fff_0000, 0);
    // It is the next one again, and about no passage.
    Atomics.sub(shop.desk.words, NEXT, 1);
    expect(() => finished(steps)).to.throw();
    shop.close();
  });

  it('are written by the next render, though that which gave them up was not ended either', () => {
    const shop = new Shop();
    const other = second(shop.kernel);
    shop.render();
    for (let i = 0; i < LINES; i++) shop.set(i, i / 3);
    const first = shop.text.rendering(FORMS);
    expect(first.next().done).to.equal(false);
    const begun = shop.desk.take();
    expect(begun).not.to.equal(undefined);
    const waiting = shop.text.rendering(FORMS);
    expect(waiting.next().done, 'waits for what the other thread is at').to.equal(false);
    other(begun);
    const third = shop.text.rendering(FORMS);
    let last = third.next();
    for (let step = 0; last.done !== true && step < 10_000; step++) last = third.next();
    if (last.done !== true) throw new Error('It waits for ever');
    shop.check(last.value);
    shop.close();
  });

  it('are given up when their target ends after the other thread did', () => {
    const shop = new Shop();
    shop.render();
    for (let i = 0; i < LINES; i++) shop.set(i, i / 3);
    const steps = shop.text.rendering(FORMS);
    expect(steps.next().done).to.equal(false);
    expect(shop.desk.take()).not.to.equal(undefined);
    shop.desk.isLost = true;
    shop.close();
  });
});

/** Where a job says that it is done. */
function doneOf(desk: Desk, job: Job): number {
  const { words } = desk;
  const slot = Array.from({ length: SLOTS }, (_, i) => i).find((i) => desk.job(i) === job) ?? 0;
  return words.length - (SLOTS - slot) * JOB_WORDS;
}
