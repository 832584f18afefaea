// Discovers the roots in the segments of a pool, with real segments.
import { expect } from 'chai';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  openSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { posixMemory } from '#app/native/os/posix.js';
import { SegmentFinder } from '#app/native/segment/segment-finder.js';
import type { Found } from '#app/streams/poller.js';
import { descriptorsOf } from '../../support/open-files.js';
import { waitFor } from '../../support/processes.js';
import { freshSegments } from '../../support/segments.js';

describe('the finder of segments', () => {
  const segments = freshSegments();
  const finders: SegmentFinder[] = [];
  afterEach(() => {
    for (const finder of finders.splice(0)) finder.close();
  });

  let nowMs = 0;
  const finder = (patterns: readonly string[] = ['*'], most = 100, trustedOwners?: number[]) => {
    const names = { contextId: segments.contextId, poolName: 'pool' };
    const pool = { ...names, trustedOwners, nowMs: () => nowMs };
    const made = new SegmentFinder(posixMemory(), pool, patterns, most);
    finders.push(made);
    return made;
  };
  const find = (from: SegmentFinder, forgotten = new Set<string>()): Found => {
    const steps = from.find(forgotten);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  };
  const namesIn = ({ targets }: Found): readonly string[] =>
    targets.map(({ app, serverKey, instance }) => `${app} ${serverKey} ${instance}`);

  it('finds each root with its application, which the record or the id states', () => {
    const publisher = segments.publish('82');
    publisher.addRoot('h.1.ads', 'Ads');
    publisher.addRoot('any', 'Bridge', {
      identity: { host: 'h', instance: '1', application: 'shm_bridge' },
    });
    expect(namesIn(find(finder()))).to.deep.equal(['ads 82 h.1.ads', 'shm_bridge 82 any']);
  });

  it('selects server keys by patterns with * and ?', () => {
    for (const key of ['82', '83', '830', 'shop-1', 'till', 'a.b']) {
      segments.publish(key).addRoot(`h.${key}.demo`, 'Demo');
    }
    const keys = (...patterns: readonly string[]) =>
      find(finder(patterns)).targets.map(({ serverKey }) => serverKey);
    expect(keys('8?', 'shop-*')).to.deep.equal(['82', '83', 'shop-1']);
    expect(keys('*')).to.deep.equal(['82', '83', '830', 'a.b', 'shop-1', 'till']);
    expect(keys('?')).to.deep.equal([]);
    expect(keys()).to.deep.equal([]);
  });

  it('follows roots that are added and removed, also when the directory is compacted', () => {
    const publisher = segments.publish('82');
    const found = finder();
    expect(namesIn(find(found))).to.deep.equal([]);
    const first = publisher.addRoot('h.1.ads', 'Ads');
    expect(namesIn(find(found))).to.deep.equal(['ads 82 h.1.ads']);
    publisher.removeObject(first);
    publisher.addRoot('h.2.ads', 'Ads');
    expect(namesIn(find(found))).to.deep.equal(['ads 82 h.2.ads']);
    // More records than the directory has room for.
    for (let round = 0; round < 100; round++)
      publisher.removeObject(publisher.addRoot(`h.${round + 3}.ads`, 'Ads'));
    expect(namesIn(find(found))).to.deep.equal(['ads 82 h.2.ads']);
  });

  it('takes another file for another publisher of the same key', () => {
    const found = finder();
    const first = segments.publish('82');
    first.addRoot('h.1.ads', 'Ads');
    const [before] = find(found).targets;
    first.close();
    expect(find(found).targets).to.deep.equal([]);
    segments.publish('82').addRoot('h.1.ads', 'Ads');
    const [after] = find(found).targets;
    expect(after?.instance).to.equal(before?.instance);
    expect(after?.file).to.not.equal(before?.file);
  });

  it('follows at most the given number of segments, and names the others', () => {
    const found = finder(['*'], 1);
    segments.publish('b').addRoot('h.1.b', 'B');
    expect(namesIn(find(found))).to.deep.equal(['b b h.1.b']);
    segments.publish('a').addRoot('h.1.a', 'A');
    const { targets, leftOut } = find(found);
    expect(
      targets.map(({ app }) => app),
      'the first one stays',
    ).to.deep.equal(['b']);
    expect(leftOut).to.deep.equal([`1 segment such as ${segments.name('a')}: max_targets is 1`]);
    const others = find(found, new Set(['b']));
    expect(
      others.targets.map(({ app }) => app),
      'a forgotten one gives up its place',
    ).to.deep.equal(['a']);
  });

  it('finds at most the given number of roots in a segment, and counts the others', () => {
    const publisher = segments.publish('82');
    for (let number = 0; number < 5; number++) publisher.addRoot(`h.${number}.ads`, 'Ads');
    const { targets, leftOut } = find(finder(['*'], 2));
    expect(targets).to.have.lengthOf(2);
    expect(leftOut).to.deep.equal(['3 roots: max_targets is 2']);
  });

  it('keeps the roots that it has found when new segments have more', () => {
    const found = finder(['*'], 3);
    const b = segments.publish('b');
    for (const number of [1, 2, 3]) b.addRoot(`h.${number}.b`, 'B');
    find(found);
    const a = segments.publish('a');
    for (const number of [1, 2]) a.addRoot(`h.${number}.a`, 'A');
    const { targets, leftOut } = find(found);
    expect(targets.map(({ serverKey }) => serverKey)).to.deep.equal(['b', 'b', 'b']);
    expect(leftOut).to.deep.equal(['2 roots: max_targets is 3']);
  });

  it('survives a name that becomes a link to itself', () => {
    const found = finder();
    segments.publish('82').addRoot('h.1.ads', 'Ads');
    expect(find(found).targets).to.have.lengthOf(1);
    rmSync(segments.path('82'));
    symlinkSync(segments.path('82'), segments.path('82'));
    expect(find(found).targets).to.deep.equal([]);
  });

  it('names a segment that it cannot read, and finds the others', () => {
    writeFileSync(segments.path('1'), 'no segment');
    segments.publish('2').addRoot('h.1.two', 'Two');
    const publisher = segments.publisher('3');
    publisher.addRoot('h.1.three', 'Three');
    publisher.place();
    copyFileSync(segments.path('3'), segments.path('4'));
    truncateSync(segments.path('4'), 5000);
    const { targets, leftOut } = find(finder());
    expect(targets.map(({ app }) => app)).to.deep.equal(['two', 'three']);
    expect(leftOut.join('\n')).to.match(
      new RegExp(
        `^segment ${segments.name('1')}: Segment is of another format: .*\nsegment ${segments.name('4')}: Segment is corrupt: .*$`,
      ),
    );
  });

  it('opens a segment again ten seconds after it could not be read', () => {
    segments.publish('1').addRoot('h.1.one', 'One');
    const good = segments.bytes('1');
    const file = openSync(segments.path('1'), 'r+');
    const write = (bytes: Uint8Array) => writeSync(file, bytes, 0, bytes.length, 0);
    write(new Uint8Array(8));
    const found = finder();
    expect(find(found).leftOut).to.have.lengthOf(1);
    write(good);
    nowMs += 9999;
    expect(find(found).leftOut).to.have.lengthOf(1);
    nowMs += 1;
    expect(namesIn(find(found))).to.deep.equal(['one 1 h.1.one']);
    closeSync(file);
  });

  it('keeps its segments and says so if their names cannot be listed', () => {
    segments.publish('1').addRoot('h.1.one', 'One');
    let list = (): string[] => ['1'];
    const pool = { contextId: segments.contextId, poolName: 'pool', list: () => list() };
    const found = new SegmentFinder(posixMemory(), pool, ['*'], 100);
    finders.push(found);
    find(found);
    list = () => {
      throw new Error('EMFILE: too many open files');
    };
    const { targets, leftOut } = find(found);
    expect(targets).to.have.lengthOf(1);
    expect(leftOut).to.deep.equal([
      'new segments: /dev/shm cannot be read: EMFILE: too many open files',
    ]);
  });

  it('leaves out segments that others may write, if trusted_owners is set', () => {
    segments.publish('1').addRoot('h.1.one', 'One');
    segments.publish('2').addRoot('h.1.two', 'Two');
    chmodSync(segments.path('1'), 0o666);
    const { targets, leftOut } = find(finder(['*'], 100, [12_345]));
    expect(targets.map(({ app }) => app)).to.deep.equal(['two']);
    expect(leftOut.join()).to.contain('is writable by all users, although trusted_owners is set');
  });

  it('closes the files of segments that are gone, and all files when it is closed', async () => {
    const keys = ['gone', 'closed', 'closed-too'];
    const paths = keys.map(segments.path);
    const found = finder();
    const publishers = keys.map((key) => segments.publish(key));
    find(found);
    expect(descriptorsOf(...paths)).to.have.lengthOf(3);
    const areOpen = (count: number) =>
      waitFor(`${count} open files`, () => descriptorsOf(...paths).length === count || undefined);
    publishers[0]?.close();
    find(found);
    // Files are closed in another thread.
    await areOpen(2);
    found.close();
    await areOpen(0);
  });
});
