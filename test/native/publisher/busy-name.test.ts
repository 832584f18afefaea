// Tests publishers whose server key belongs to another publisher.
import { expect } from 'chai';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { Fault } from '#app/errors.js';
import { HEADER } from '#app/native/segment/layout.js';
import { NameWait } from '#app/native/publisher/name-wait.js';
import type { Publisher } from '#app/native/publisher/publisher.js';
import { asOrdinaryUser, needsRoot } from '../../support/needs.js';
import { waitFor } from '../../support/processes.js';
import { freshChildren } from '../../support/children.js';
import { readTree } from '../../support/read-tree.js';
import { TINY, freshSegments } from '../../support/segments.js';

describe('A publisher whose server key another publisher uses', () => {
  const children = freshChildren();
  const segments = freshSegments();

  /** Returns a publisher that waits for server key 82, and the warnings that it writes. */
  const waiting = () => {
    const warnings: string[] = [];
    const warn = (sentence: string) => warnings.push(sentence);
    const publisher = segments.publisher('82', { failIfBusy: false, warn });
    const sales = publisher.addVariable(publisher.addRoot('r', 'C'), 'sales', 'u64');
    publisher.place();
    return { publisher, sales, warnings };
  };
  const holdsKey = (publisher: Publisher) => () => publisher.holdsKey || undefined;
  const sales = () => {
    const { source } = segments.poller('82').poll();
    const [root] = source === undefined ? [] : readTree(source, TINY.slots);
    return root?.variables[0]?.value;
  };

  it('waits with one line, then publishes with another line and all values, soon after the other publisher closes', async () => {
    const first = segments.publish('82');
    const { publisher, warnings, ...next } = waiting();
    next.sales.set(7);
    publisher.notify();
    publisher.place();
    expect([first.holdsKey, publisher.holdsKey]).to.deep.equal([true, false]);
    first.close();
    expect(first.holdsKey).to.equal(false);
    await waitFor('the key', holdsKey(publisher));
    expect(sales()).to.equal(7n);
    expect(warnings).to.deep.equal([
      `another publisher holds ${segments.path('82')} (process ${process.pid}, the pid of this process); ` +
        'this publisher takes the key once it is free (set failIfBusy to get an error instead; give each worker process a key with its pid, and all of them one target with format = "workers")',
      `this publisher now holds ${segments.path('82')}`,
    ]);
  });

  it('advises the program only if it waits for another publisher', () => {
    const warnings: string[] = [];
    const wait = new NameWait(
      ' (set failIfBusy)',
      () => undefined,
      (sentence) => warnings.push(sentence),
    );
    wait.after(new Fault('NATIVE_FAILED', 'Cannot make /dev/shm/a: ENOSPC'));
    wait.after(new Fault('SEGMENT_BUSY', 'another publisher holds /dev/shm/a'));
    for (let check = 0; check < 2; check++) wait.succeed('/dev/shm/a');
    expect(warnings).to.deep.equal([
      'Cannot make /dev/shm/a: ENOSPC; the publisher tries again every second',
      'another publisher holds /dev/shm/a; this publisher takes the key once it is free (set failIfBusy)',
      'this publisher now holds /dev/shm/a',
    ]);
  });

  it('takes the key with its next heartbeat, even if the program blocks the event loop', () => {
    const first = segments.publish('82');
    const { publisher } = waiting();
    first.close();
    const deadline = performance.now() + 60_000;
    while (!publisher.holdsKey && performance.now() < deadline) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
      publisher.beat();
    }
    expect(publisher.holdsKey).to.equal(true);
  });

  it('names the PID of the other process in the warning, and takes the key when that process is killed', async () => {
    const child = await children.ready('churning-publisher', segments.contextId, '82');
    await children.go(child);
    const { publisher, warnings } = waiting();
    expect(warnings.join()).to.contain(`${segments.path('82')} (process ${child.pid});`);
    await children.kill(child);
    await waitFor('the key', holdsKey(publisher));
  });

  it('is the only one to take the key if several publishers wait for it', async () => {
    const first = segments.publish('82');
    const others = [waiting().publisher, waiting().publisher];
    first.close();
    const placed = () => others.filter((each) => each.holdsKey);
    const [winner] = await waitFor('the first', () => (placed().length > 0 ? placed() : undefined));
    const inode = statSync(segments.path('82')).ino;
    for (const each of others) each.beat();
    expect(placed()).to.deep.equal([winner]);
    expect(statSync(segments.path('82')).ino).to.equal(inode);
    winner?.close();
    await waitFor('the second', () => placed().length > 0 || undefined);
  });

  it('takes the key when the file is removed, and the other publisher waits until it gets the key back', async () => {
    const warnings: string[] = [];
    const first = segments.publish('82', { warn: (sentence) => warnings.push(sentence) });
    const { publisher } = waiting();
    rmSync(segments.path('82'));
    await waitFor('the key', holdsKey(publisher));
    const warned = () => {
      first.beat();
      return warnings.length > 0 || undefined;
    };
    await waitFor('the warning', warned);
    expect(first.holdsKey).to.equal(false);
    publisher.close();
    await waitFor('the key', holdsKey(first));
    expect(warnings).to.have.lengthOf(2);
  });

  it('closes without an error while it waits, and never touches the segment of the other publisher', () => {
    const first = segments.publish('82');
    const before = segments.bytes('82');
    const { publisher, warnings } = waiting();
    publisher.close();
    publisher.beat();
    expect(warnings).to.have.lengthOf(1);
    expect(segments.bytes('82').equals(before), 'untouched').to.equal(true);
    expect(segments.files()).to.deep.equal([segments.name('82')]);
    expect(first.holdsKey).to.equal(true);
    expect(() => publisher.place()).to.throw(Fault, 'The publisher is closed');
  });

  it('gets an error at once with failIfBusy: true, and can be placed once the key is free', () => {
    const first = segments.publish('82');
    const warnings: string[] = [];
    const warn = (sentence: string) => warnings.push(sentence);
    const second = segments.publisher('82', { failIfBusy: true, warn });
    for (const attempt of [1, 2])
      expect(() => second.place(), `attempt ${attempt}`)
        .to.throw(Fault, `another publisher holds ${segments.path('82')}`)
        .with.property('code', 'SEGMENT_BUSY');
    first.close();
    second.beat();
    expect(second.holdsKey).to.equal(false);
    second.place();
    expect(second.holdsKey).to.equal(true);
    expect(warnings).to.deep.equal([]);
  });

  it('names no process if the locked file is not a segment', () => {
    const first = segments.publish('82');
    writeFileSync(segments.path('82'), Buffer.alloc(HEADER.size));
    expect(waiting().warnings.join()).to.contain(
      `holds ${segments.path('82')}; this publisher takes the key`,
    );
    first.close();
  });
});

describe('A publisher whose segment file belongs to another user', () => {
  const segments = freshSegments();
  const children = freshChildren();
  before(function () {
    needsRoot(this);
  });

  const placeAsOrdinaryUser = () => {
    const publisher = asOrdinaryUser(() => segments.publisher('82'));
    const place = () => {
      publisher.place();
    };
    return () => {
      asOrdinaryUser(place);
    };
  };

  it('reports the key as busy while the other publisher runs, and names the file, the user and the remedy once that publisher has ended', async () => {
    const child = await children.ready('churning-publisher', segments.contextId, '82');
    await children.go(child);
    expect(placeAsOrdinaryUser())
      .to.throw(Fault, `holds ${segments.path('82')} (process ${child.pid})`)
      .with.property('code', 'SEGMENT_BUSY');
    await children.kill(child);
    expect(placeAsOrdinaryUser()).to.throw(
      Fault,
      new RegExp(
        `^Cannot replace ${segments.path('82')}: EACCES.*It belongs to user 0, and its publisher has ended: remove it as that user or root$`,
      ),
    );
  });

  it('gets an error if it may not read the file', () => {
    writeFileSync(segments.path('82'), '', { mode: 0o600 });
    expect(placeAsOrdinaryUser()).to.throw(Fault, 'user 0, and this process may not read it');
  });
});
