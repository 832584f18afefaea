// Publishers with four roots each. Each value names the object that it belongs to. Objects are added and removed.
import { clearInterval, setInterval } from 'node:timers';
import { Publisher } from '../dist/native/publisher/publisher.js';

export const APPS = ['soaka', 'soakb', 'soakc', 'soakd'];
export const TICK_MS = 100;
/** A value is the number of its object times `TICKS`, plus the tick at which it was stored. */
export const TICKS = 10_000_000;
/** The number of ticks between two stores of an object's value. */
export const ROTATION = 10;
/** The first publishers are larger, so that partitions are not evenly loaded. */
const objectsOf = (key) => (key <= 5 ? 400 : 40);
/** The index of the tree in which an object is replaced at a tick: the trees take turns. */
const churnedAt = (tick) => (tick - 1) % APPS.length;
/** The number of the newest object of a tree after a tick. Objects are numbered from 1. */
export const newestAt = (app, key, tick) =>
  objectsOf(key) +
  Math.floor((Math.max(0, tick) + APPS.length - 1 - APPS.indexOf(app)) / APPS.length);

class Tree {
  #publisher;
  #root;
  #name;
  #key;
  #items = [];
  #last = 0;
  #clock;
  #count;

  constructor(publisher, app, key) {
    this.#publisher = publisher;
    this.#name = `host.1.${app}`;
    this.#key = key;
    this.#root = publisher.addRoot(this.#name, 'Root');
    this.#clock = publisher.addVariable(this.#root, 'clock', 'u64');
    this.#count = publisher.addVariable(this.#root, 'count', 'u64');
    for (let i = 0; i < objectsOf(key); i++) this.#add(0);
    this.tick(0);
  }

  tick(tick) {
    for (let i = tick % ROTATION; i < this.#items.length; i += ROTATION) {
      const { number, value } = this.#items[i];
      value.set(number * TICKS + tick);
    }
    this.#count.set(this.#items.length);
    this.#clock.set(tick);
  }

  /**
   * Replaces an object by a new one. Never removes the newest: a page rendered between the removal and the addition
   * would show neither the newest object nor its successor.
   */
  churn(tick) {
    const newest = this.#items.findIndex(({ number }) => number === this.#last);
    const others = this.#items.length - 1;
    const index = (newest + 1 + Math.floor(Math.random() * others)) % this.#items.length;
    this.#publisher.removeObject(this.#items[index].object);
    this.#add(tick, index);
  }

  #add(tick, index = this.#items.length) {
    const number = ++this.#last;
    const object = this.#publisher.addObject(this.#root, `${this.#name}.item${number}`, 'Item');
    const value = this.#publisher.addVariable(object, 'value', 'u64');
    value.set(number * TICKS + tick);
    this.#publisher.addVariable(object, 'key', 'u64').set(this.#key);
    this.#items[index] = { number, object, value };
  }
}

function run(contextId, count) {
  const all = Array.from({ length: count }, (_, index) => {
    const key = index + 1;
    const publisher = new Publisher({
      failIfBusy: true,
      contextId,
      serverKey: String(key),
      pid: process.pid,
      realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
      heartbeatMs: 1000,
      // Small enough for the directory to fill up about once a minute, so that the publisher switches to its other
      // directory.
      capacity: { records: 48 * objectsOf(key), slots: 24 * objectsOf(key), stringBytes: 1 << 18 },
    });
    const trees = APPS.map((app) => new Tree(publisher, app, key));
    publisher.place();
    return { publisher, trees };
  });
  let tick = 0;
  const timer = setInterval(() => {
    tick++;
    for (const { publisher, trees } of all) {
      trees[churnedAt(tick)].churn(tick);
      for (const tree of trees) tree.tick(tick);
      publisher.notify();
    }
    // The callback receives the error of a closed channel; without a callback the process would fail.
    process.send({ tick }, () => undefined);
  }, TICK_MS);
  process.on('disconnect', () => {
    clearInterval(timer);
    for (const { publisher } of all) publisher.close();
    process.exit(0);
  });
  process.send({ tick });
}

const [contextId, count] = process.argv.slice(2);
if (process.send !== undefined && contextId !== undefined) run(contextId, Number(count));
