// The thread that writes blocks beside another: when it is there, and when it is not.
import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Kernel } from '#app/exposition/kernel/kernel.js';
import { Assistant } from '#app/exposition/kernel/threads/assistant.js';
import { engaged } from '../../../support/engaged.js';
import { eventually } from '../../../support/eventually.js';

const threads = (): number => readdirSync('/proc/self/task').length;

describe('an assistant', () => {
  const kernel = new Kernel();
  let assistant: Assistant | undefined;
  afterEach(() => {
    assistant?.close();
  });

  it('is started when it is asked for, and is had once it is there', async () => {
    assistant = new Assistant();
    const before = threads();
    expect(assistant.engage(kernel)).to.equal(undefined);
    expect(await engaged(assistant, kernel)).not.to.equal(undefined);
    expect(threads()).to.be.greaterThan(before);
  });

  it('is with one render at a time', async () => {
    assistant = new Assistant();
    const desk = await engaged(assistant, kernel);
    expect(assistant.engage(new Kernel())).to.equal(undefined);
    assistant.release();
    expect(assistant.engage(new Kernel())).to.equal(desk);
  });

  it('is not engaged by a kernel without memory for it', async () => {
    assistant = new Assistant();
    await engaged(assistant, kernel);
    assistant.release();
    const full = new Kernel();
    const take = full.arena.take.bind(full.arena);
    full.arena.take = () => {
      throw new Error('no memory');
    };
    const its = assistant;
    expect(() => its.engage(full)).to.throw('no memory');
    full.arena.take = take;
    const other = new Kernel();
    expect(its.engage(other)?.kernel).to.equal(1);
    its.release();
    expect(its.engage(full)?.kernel).to.equal(2);
  });

  it('is kept apart by the number that the system knows it by', async () => {
    const apart: number[] = [];
    assistant = new Assistant({ keepApart: (thread) => apart.push(thread) });
    await engaged(assistant, kernel);
    expect(readdirSync('/proc/self/task')).to.include(String(apart[0]));
  });

  it('ends when nobody needed it for a while, and is started again for the next', async () => {
    let thread = 0;
    assistant = new Assistant({ idleMs: 100, keepApart: (its) => (thread = its) });
    const isThere = () => readdirSync('/proc/self/task').includes(String(thread));
    const desk = await engaged(assistant, kernel);
    await sleep(150);
    expect([desk.isLost, isThere()], 'while it is engaged').to.deep.equal([false, true]);
    assistant.release();
    await eventually('its thread ends', () => desk.isLost && !isThere());
    expect(assistant.engage(kernel)).to.equal(undefined);
    expect(await engaged(assistant, kernel)).not.to.equal(desk);
  });

  it('never comes again when its thread failed, or could not be started', async () => {
    for (const start of [
      () => new Worker('throw new Error("failed")', { eval: true }),
      () => {
        throw new Error('no thread left');
      },
    ]) {
      let starts = 0;
      assistant = new Assistant({
        start: () => {
          starts++;
          return start();
        },
      });
      for (let i = 0; i < 20; i++) {
        expect(assistant.engage(kernel)).to.equal(undefined);
        await sleep(10);
      }
      expect(starts).to.equal(1);
    }
  });

  it('that fails at work has its desk say that jobs are lost', async () => {
    const thread = `const { parentPort } = require('node:worker_threads');
      parentPort.postMessage(0);
      parentPort.once('message', () => { throw new Error('failed'); });`;
    assistant = new Assistant({ start: () => new Worker(thread, { eval: true }) });
    const desk = await engaged(assistant, kernel);
    await eventually('the desk knows', () => desk.isLost);
    assistant.release();
    expect(assistant.engage(kernel)).to.equal(undefined);
  });
});
