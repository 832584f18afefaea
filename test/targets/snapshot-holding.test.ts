// Tests that a page keeps its bytes while it is sent, even during further renders.
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import type { Page } from '#app/model.js';
import type { PublishedObject } from '#app/native/publisher/publisher-options.js';
import { Publishers } from '../support/publishers.js';
import { Served } from '../support/served.js';

const textOf = (page: Page): string => Buffer.concat(page.buffers).toString();

describe('a page of a snapshot', () => {
  const publishers = new Publishers();
  const kernel = new Kernel();
  const running: Served[] = [];
  afterEach(() => {
    for (const served of running.splice(0)) served.leave();
    publishers.closeAll();
  });

  /** Enough lines for buffers that are sent directly from the kernel's memory. */
  const LINES = 900;
  const publish = (serverKey: string) => {
    const publisher = publishers.make(serverKey);
    const root = publisher.addRoot('H.1.demo', 'Root');
    publisher.place();
    const add = (parent: PublishedObject, first: number) =>
      Array.from({ length: LINES }, (_, i) => {
        const child = publisher.addObject(parent, `H.1.demo.child${first + i}`, 'Child');
        const value = publisher.addVariable(child, 'value', 'u64');
        value.set(first + i);
        return { child, value };
      });
    return { publisher, root, add, children: add(root, 0) };
  };
  const serve = (serverKey: string, renderMinIntervalMs = 0, memory = kernel): Served => {
    const definition = { serverKeys: [serverKey], renderMinIntervalMs };
    const served = new Served(publishers, definition, { kernel: memory });
    running.push(served);
    return served;
  };
  const pageOf = (served: Served): Page => {
    return served.answer((answer) => {
      if (answer.kind === 'waiting') throw new Error('The target is not ready');
      return TEXT.page(answer);
    });
  };

  it('does not change while values and lines change, until it is released', () => {
    const { root, add, publisher, children } = publish('82');
    const served = serve('82');
    const page = pageOf(served);
    const text = textOf(page);
    expect(text).to.contain('demo_child_value{object="child899"} 899\n');

    for (let round = 0; round < 20; round++) {
      for (const { value } of children) value.add(1_000_000);
      pageOf(served).release();
    }
    for (const { child } of children) publisher.removeObject(child);
    pageOf(served).release();
    add(root, 5000);
    pageOf(served).release();
    expect(textOf(page)).to.equal(text);
    page.release();
  });

  it('has the same text with and without compression, even if values change during the compression', async () => {
    const { children } = publish('82');
    const served = serve('82');
    const texts: string[] = [];
    pageOf(served).release();
    const used = kernel.arena.used;
    const zipped = Array.from({ length: 8 }, async () => {
      for (const { value } of children) value.add(1_000_000);
      const page = pageOf(served);
      texts.push(textOf(page));
      return page.gzip?.();
    });
    const unzipped = (await Promise.all(zipped)).map((body) =>
      gunzipSync(Buffer.concat(body?.buffers ?? [])).toString(),
    );
    expect(new Set(unzipped).size).to.equal(8);
    expect(unzipped).to.deep.equal(texts);
    // All pages have been released, although none was sent.
    expect(kernel.arena.used).to.be.at.most(used);
  });

  it('does not change when the root is lost and other targets use the same memory', () => {
    const { publisher } = publish('82');
    const served = serve('82');
    const page = pageOf(served);
    const text = textOf(page);
    publisher.close();
    expect(served.ask().kind).to.equal('waiting');
    publish('456');
    pageOf(serve('456')).release();
    expect(textOf(page)).to.equal(text);
    page.release();
  });

  it('is complete until the next render, even if its lines have been removed', () => {
    const { publisher, children } = publish('82');
    const served = serve('82', 60_000);
    const first = pageOf(served);
    const text = textOf(first).split('shm_exporter')[0] ?? '';
    first.release();
    for (const { child } of children) publisher.removeObject(child);
    publisher.notify();
    served.clock.advance(1000);
    const other = publish('456');
    for (const { value } of other.children) value.add(7_000_000);
    pageOf(serve('456')).release();

    const again = pageOf(served);
    expect(textOf(again).split('shm_exporter')[0]).to.equal(text);
    again.release();
  });

  it('frees its memory when it is released, so that many renders need no more memory than a few', () => {
    const { children } = publish('82');
    const served = serve('82');
    const renderAll = (times: number): number => {
      for (let i = 0; i < times; i++) {
        for (const { value } of children) value.set(i % 2);
        pageOf(served).release();
      }
      return kernel.arena.used;
    };
    const early = renderAll(4);
    expect(renderAll(40)).to.equal(early);
  });

  it('frees its memory once, even if it is released twice', () => {
    publish('82');
    const served = serve('82');
    const page = pageOf(served);
    page.release();
    const used = kernel.arena.used;
    page.release();
    expect(kernel.arena.used).to.equal(used);
  });

  it('frees the memory of a stopped target when it is released', () => {
    // Use a separate kernel, because targets of other tests may still be freeing their memory.
    const own = new Kernel();
    const before = own.arena.used;
    publish('82');
    const served = serve('82', 0, own);
    const page = pageOf(served);
    served.leave();
    expect(own.arena.used).to.be.greaterThan(before);
    page.release();
    // The target is closed in slices. On a busy machine there are many of them.
    served.clock.advance(0);
    expect(own.arena.used).to.equal(before);
  });
});
