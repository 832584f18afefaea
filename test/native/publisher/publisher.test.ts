// Tests which arguments a publisher refuses, and that it creates a complete, locked and named segment.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import fs, {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Fault } from '#app/errors.js';
import { FutexWaiter } from '#app/native/os/futex-waiter.js';
import {
  HEADER,
  MUTABLE,
  MUTABLE_OFFSET,
  PAGE,
  SEGMENT_STATE,
} from '#app/native/segment/layout.js';
import type { Publisher } from '#app/native/publisher/publisher.js';
import { PublisherFile } from '#app/native/publisher/publisher-file.js';
import { posixMemory } from '#app/native/os/posix.js';
import { SegmentPoller } from '#app/native/segment/segment-poller.js';
import { readTree } from '../../support/read-tree.js';
import { asOrdinaryUser, needsRoot } from '../../support/needs.js';
import { descriptorsOf } from '../../support/open-files.js';
import { PROJECT, waitFor } from '../../support/processes.js';
import { flagsOf } from '../../support/readers.js';
import { TINY, freshSegments } from '../../support/segments.js';

/** Returns the descriptor of this process that is open on a file. */
function descriptorOf(path: string): number {
  const { ino } = statSync(path);
  const isOpen = (fd: string) =>
    statSync(`/proc/self/fd/${fd}`, { throwIfNoEntry: false })?.ino === ino;
  return Number(readdirSync('/proc/self/fd').find(isOpen) ?? expect.fail('no descriptor'));
}

describe('A publisher', () => {
  const segments = freshSegments();
  const REFUSED = [
    ['a name of more than 1024 bytes', 'é'.repeat(513), {}, 'name: found "éé'],
    ['a unit of more than 64 bytes', 'v', { unit: 'u'.repeat(65) }, 'unit: found "uu'],
    ['a help text of more than 4096 bytes', 'v', { help: 'h'.repeat(4097) }, 'help: found "hh'],
    ['more than 512 bounds', 'v', { schema: Array(513).fill(0) }, 'schema: found an array of 513'],
    [
      'bounds that do not ascend',
      'v',
      { schema: [1, 1] },
      'found 1, 1, allowed: numbers in ascending order',
    ],
    [
      'bounds that are not numbers',
      'v',
      { schema: [Number.NaN] },
      'found NaN, allowed: finite numbers',
    ],
    ['+Inf as a bound', 'v', { schema: [1, Infinity] }, 'found 1, Infinity, allowed: finite'],
    ['-Inf as a bound', 'v', { schema: [-Infinity, 1] }, 'found -Infinity, 1, allowed: finite'],
    ['a text of more than 65528 bytes', 'v', { textBytes: 65_529 }, 'textBytes: found 65529'],
    ['a text with a negative number of bytes', 'v', { textBytes: -100 }, 'textBytes: found -100'],
    ['a text with a fraction of a byte', 'v', { textBytes: 0.5 }, 'textBytes: found 0.5'],
  ] as const;
  for (const [what, name, options, reason] of REFUSED)
    it(`refuses ${what}, and its segment stays valid`, () => {
      const publisher = segments.publish('82');
      const root = publisher.addRoot('r', 'C');
      expect(() => publisher.addVariable(root, name, 'histogram', options)).to.throw(
        RangeError,
        reason,
      );
      publisher.addVariable(root, 'good', 'histogram', { schema: [1, 2] }).observe(1);
      const { publisher: verdict, source } = segments.poller('82').poll();
      expect(verdict.state).to.equal('live');
      const [seen] = source === undefined ? [] : readTree(source, TINY.slots);
      expect(seen?.variables.map(({ name }) => name)).to.deep.equal(['good']);
    });

  it('refuses types, states and as-of times that the API does not define', () => {
    const publisher = segments.publish('82');
    const root = publisher.addRoot('r', 'C');
    const refused: readonly (readonly [() => unknown, string])[] = [
      [
        () => publisher.addVariable(root, 'v', 'int' as 'u64'),
        'type: found "int", allowed: "u64" or "i64"',
      ],
      [
        () => publisher.addObject(root, 'r.o', 'C', { state: 'on' as 'normal' }),
        'state: found "on"',
      ],
      [
        () => publisher.setState(root, 'on' as 'normal'),
        'state: found "on", allowed: "init" or "normal"',
      ],
      [
        () => publisher.setAsOf(root, 2n ** 64n),
        'setAsOf: unixNs: found 18446744073709551616, allowed: integers from 0',
      ],
    ];
    for (const [store, message] of refused) expect(store).to.throw(RangeError, message);
    expect(segments.poller('82').poll().publisher.state).to.equal('live');
  });

  it('refuses a 65th level of objects, which no reader accepts', () => {
    const capacity = { ...TINY, records: 128, slots: 128, stringBytes: 1 << 14 };
    const publisher = segments.publish('82', { capacity });
    let object = publisher.addRoot('o', 'C');
    for (let depth = 2; depth <= 64; depth++)
      object = publisher.addObject(object, `${object.name}.o`, 'C');
    expect(object.id).to.equal(64);
    expect(() => publisher.addObject(object, `${object.name}.o`, 'C')).to.throw(
      RangeError,
      'found one with 63 objects above it, allowed: at most 62',
    );
    expect(segments.poller('82').poll().publisher.state).to.equal('live');
  });

  it('updates its heartbeat with each object that it adds, even while it adds many', () => {
    const publisher = segments.publish('82');
    const beaten = () => segments.bytes('82').readBigUInt64LE(MUTABLE_OFFSET + MUTABLE.heartbeatNs);
    const placed = beaten();
    const root = publisher.addRoot('r', 'C');
    const first = beaten();
    publisher.addObject(root, 'r.o', 'C');
    expect(first > placed && beaten() > first).to.equal(true);
  });

  for (const [what, serverKey, heartbeatMs] of [
    ['a server key with a slash', 'a/b', 1000],
    ['a server key with a letter that is not ASCII', 'ü', 1000],
    ['a server key of 200 characters', 'x'.repeat(200), 1000],
    ['a heartbeat of 0.5 ms', '82', 0.5],
    ['a heartbeat of -1 ms', '82', -1],
  ] as const)
    it(`refuses ${what}, and creates no file`, () => {
      expect(() => segments.publisher(serverKey, { heartbeatMs })).to.throw();
      expect(segments.files()).to.deep.equal([]);
    });
});

describe('The segment of a publisher (segment format, section 8)', () => {
  const segments = freshSegments();

  it('has no name in /dev/shm until it is placed', () => {
    const publisher = segments.publisher('82');
    publisher.addRoot('r', 'C');
    expect(segments.files()).to.deep.equal([]);
    expect(segments.poller('82').poll().publisher.state).to.equal('absent');
    publisher.place();
    expect(segments.files()).to.deep.equal([segments.name('82')]);
    const { publisher: verdict, changes } = segments.poller('82').poll();
    expect([verdict.state, changes.length]).to.deep.equal(['live', 1]);
  });

  it('leaves no file if its name is in use, even if close() is not called', () => {
    segments.publish('82');
    for (const publisher of [segments.publisher('82'), segments.publisher('82')])
      expect(() => {
        publisher.place();
      }).to.throw(Fault, 'another publisher holds');
    expect(segments.files()).to.deep.equal([segments.name('82')]);
  });

  it('leaves no file if the publisher may not replace the file of another user', function () {
    needsRoot(this);
    writeFileSync(segments.path('82'), '');
    chmodSync(segments.path('82'), 0o666);
    const publisher = asOrdinaryUser(() => segments.publisher('82'));
    const place = () => {
      publisher.place();
    };
    expect(() => {
      asOrdinaryUser(place);
    }).to.throw(Fault, /^Cannot replace .*: EPERM.*user 0, and its publisher has ended: remove it/);
    expect(segments.files()).to.deep.equal([segments.name('82')]);
  });

  it('gets its name at a second attempt, after the previous publisher has closed', () => {
    const first = segments.publish('82');
    const second = segments.publisher('82');
    expect(() => {
      second.place();
    }).to.throw(Fault);
    first.close();
    second.place();
    expect(segments.poller('82').poll().publisher.state).to.equal('live');
  });

  it('causes an error at the limit of the file size, and the program can continue', () => {
    const script = `
      import { Publisher } from '${PROJECT}/dist/native/publisher/publisher.js';
      try {
        new Publisher({ serverKey: '82', contextId: '${segments.contextId}' });
      } catch ({ code, message }) {
        console.log(code, message);
      }`;
    const words = [
      'ulimit -f 100; exec "$@"',
      'bash',
      process.execPath,
      '--input-type=module',
      '-e',
    ];
    const { status, stdout } = spawnSync('bash', ['-c', ...words, script], { encoding: 'utf8' });
    expect(status).to.equal(0);
    expect(stdout).to.match(/^NATIVE_FAILED Cannot make \/dev\/shm\/.*: EFBIG: /);
    expect(segments.files()).to.deep.equal([]);
  });

  it('leaves no file when it is closed before it is placed', () => {
    segments.publisher('82').close();
    expect(segments.files()).to.deep.equal([]);
  });

  for (const mode of [0o600, 0o644, 0o444])
    it(`has the configured mode ${mode.toString(8)}, whatever the umask is`, () => {
      const before = process.umask(0o077);
      try {
        segments.publish('82', { mode });
      } finally {
        process.umask(before);
      }
      expect(statSync(segments.path('82')).mode & 0o777).to.equal(mode);
    });

  it('does not remove another file under its name when it closes', () => {
    const publisher = segments.publish('82');
    rmSync(segments.path('82'));
    writeFileSync(segments.path('82'), 'another');
    publisher.close();
    expect(readFileSync(segments.path('82'), 'utf8')).to.equal('another');
  });

  it('closes without an error when the program may no longer remove the name', () => {
    const publisher = segments.publish('82');
    const { unlinkSync } = fs;
    fs.unlinkSync = () => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
    };
    syncBuiltinESMExports();
    try {
      publisher.close();
    } finally {
      fs.unlinkSync = unlinkSync;
      syncBuiltinESMExports();
    }
    expect(segments.poller('82').poll().publisher.state).to.equal('closed');
  });

  it('cannot be placed after it is closed', () => {
    const publisher = segments.publisher('82');
    publisher.close();
    expect(() => publisher.place()).to.throw(Fault, 'The publisher is closed');
    expect(segments.files()).to.deep.equal([]);
  });

  it('leaves neither a descriptor nor a mapping when an option is refused', () => {
    const isSegment = (descriptor: string): boolean => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith('/dev/shm/');
      } catch {
        return false;
      }
    };
    const held = () => [
      readdirSync('/proc/self/fd').filter(isSegment).length,
      readFileSync('/proc/self/maps', 'utf8').split('/dev/shm/#').length,
    ];
    const before = held();
    expect(() => segments.publisher('82', { heartbeatMs: 2 ** 53 })).to.throw(RangeError);
    expect(() => segments.publisher('82', { mode: -1 })).to.throw(RangeError);
    // The counts may fall, because segments of earlier tests may be closed meanwhile.
    held().forEach((count, index) => expect(count).to.be.at.most(before[index] ?? 0));
  });

  it('is reopened if another file has taken its descriptor, and never writes to that file', () => {
    const capacity = { ...TINY, records: 4096, slots: 4096, stringBytes: 1 << 16 };
    const publisher = segments.publish('82', { capacity });
    const root = publisher.addRoot('r', 'C');
    const mine = Buffer.alloc(8192, 7);
    const path = segments.path('mine');
    writeFileSync(path, mine);
    const descriptor = descriptorOf(segments.path('82'));
    closeSync(descriptor);
    const files = [openSync(path, 'r+')];
    while (!files.includes(descriptor)) files.push(openSync(path, 'r+'));
    for (let number = 0; number < 2000; number++)
      expect(publisher.addVariable(root, `v${number}`, 'u64').ref?.slot).to.equal(number + 2);
    expect(segments.poller('82').poll().publisher.state).to.equal('live');
    publisher.close();
    files.forEach((file) => closeSync(file));
    expect(readFileSync(path).equals(mine), 'untouched').to.equal(true);
  });

  it('replaces any unlocked file, even one that is not a segment', () => {
    writeFileSync(segments.path('82'), 'left over');
    segments.publish('82');
    expect(segments.poller('82').poll().publisher.state).to.equal('live');
  });

  it('gets its name when the previous publisher closes at the same moment', () => {
    const old = segments.publish('82');
    const next = segments.publisher('82');
    // Another file has the name. That file is removed just before the publisher opens it.
    const { openSync } = fs;
    fs.openSync = (path, ...rest) => {
      if (path === segments.path('82')) old.close();
      return openSync(path, ...rest);
    };
    syncBuiltinESMExports();
    try {
      next.place();
    } finally {
      fs.openSync = openSync;
      syncBuiltinESMExports();
    }
    expect(segments.poller('82').poll().publisher.state).to.equal('live');
  });

  it('has its size, its feature bits and a new generation in its header (segment format, section 7)', () => {
    const generationOf = (serverKey: string) => {
      segments.publish(serverKey);
      const bytes = segments.bytes(serverKey);
      expect(bytes.readBigUInt64LE(HEADER.fileSize)).to.equal(BigInt(bytes.length));
      expect(bytes.readBigUInt64LE(HEADER.requiredFeatures)).to.equal(0n);
      expect(bytes.readBigUInt64LE(HEADER.startedRealtimeNs)).to.equal(1_700_000_000_000_000_000n);
      return bytes.readBigUInt64LE(HEADER.generation);
    };
    const generations = new Set(['1', '2', '3', '4'].map(generationOf));
    expect(generations.size).to.equal(4);
    expect(generations.has(0n)).to.equal(false);
  });
});

describe('A segment whose name is removed while its publisher runs', () => {
  const segments = freshSegments();
  /** Updates the heartbeat until the condition holds. */
  const beatUntil = (publisher: Publisher, what: string, holds: () => boolean) =>
    waitFor(what, () => {
      publisher.beat();
      return holds() || undefined;
    });
  const isThere = () => existsSync(segments.path('82'));
  /** Returns the values that a new reader finds, by variable name. */
  const values = () => {
    const { source } = segments.poller('82').poll();
    const [root] = source === undefined ? [] : readTree(source, TINY.slots);
    return root?.variables.map(({ name, value }) => [name, value]);
  };

  it('gets its name back with all values, and accepts updates', async () => {
    const publisher = segments.publish('82');
    const root = publisher.addRoot('r', 'C');
    const sales = publisher.addVariable(root, 'sales', 'u64');
    const region = publisher.addVariable(root, 'region', 'string');
    publisher.addVariable(root, 'delay', 'histogram', { schema: [1, 2] }).observe(1);
    sales.set(7);
    region.set('north');
    const before = values();
    const reader = segments.poller('82');
    expect(reader.poll().publisher.state).to.equal('live');
    rmSync(segments.path('82'));
    await beatUntil(publisher, 'the name is back', isThere);
    expect(values()).to.deep.equal(before);
    sales.set(8);
    publisher.addVariable(root, 'late', 'bool').set(true);
    expect(values()?.map(([name]) => name)).to.deep.equal(['sales', 'region', 'delay', 'late']);
    expect(values()?.[0]).to.deep.equal(['sales', 8n]);
    const state = () => reader.poll().publisher.state;
    await waitFor('a reader of the old file', () => state() === 'live' || undefined);
    publisher.close();
    expect(segments.files()).to.deep.equal([]);
  });

  it('gets its name back after another publisher has used the name and closed', async () => {
    const publisher = segments.publish('82', { warn: () => undefined });
    publisher.addVariable(publisher.addRoot('r', 'C'), 'mine', 'bool').set(true);
    const file = posixMemory().open(segments.name('82'));
    const state = Buffer.alloc(4);
    const hasTried = () => {
      file?.read(state, 4, MUTABLE_OFFSET + MUTABLE.state);
      return state.readUInt32LE() === SEGMENT_STATE.superseded;
    };
    rmSync(segments.path('82'));
    const other = segments.publish('82');
    other.addVariable(other.addRoot('r', 'C'), 'other', 'bool').set(true);
    await beatUntil(publisher, 'it tried', hasTried);
    file?.close();
    expect(values()).to.deep.equal([['other', 1n]]);
    other.close();
    await beatUntil(publisher, 'the name is back', isThere);
    expect(values()).to.deep.equal([['mine', 1n]]);
  });

  it('is neither copied nor superseded while its folder is renamed for a moment', () => {
    const file = new PublisherFile(segments.name('82'), PAGE, 0o644, 'sight');
    file.place();
    renameSync(segments.path('82'), segments.path('elsewhere'));
    file.restoreName();
    expect(isThere()).to.equal(false);
    renameSync(segments.path('elsewhere'), segments.path('82'));
    file.close();
    expect(isThere()).to.equal(false);
  });

  it('does not get its name back after it is closed', () => {
    const publisher = segments.publish('82');
    rmSync(segments.path('82'));
    publisher.close();
    publisher.beat();
    publisher.notify();
    expect(segments.files()).to.deep.equal([]);
  });
});

describe('A reader of a segment (segment format, section 1)', () => {
  const segments = freshSegments();
  /** The access modes of the descriptors of this process that are open on a segment. */
  const accessModes = (path: string): number[] => descriptorsOf(path).map((fd) => flagsOf(fd) & 3);

  it('opens the segment read-only, and maps only its header page, read-only', async () => {
    const publisher = segments.publish('82');
    publisher.addVariable(publisher.addRoot('r', 'C'), 'v', 'u64').set(1);
    const before = accessModes(segments.path('82')).length;
    const mappings = () =>
      readFileSync('/proc/self/maps', 'utf8')
        .split('\n')
        .filter((line) => line.endsWith(segments.path('82')) && line.includes(' r--s '));
    expect(mappings()).to.deep.equal([]);
    const waiter = new FutexWaiter();
    const poller = new SegmentPoller(posixMemory(waiter), segments.name('82'), '82');
    poller.poll();
    poller.wait(0, () => undefined);
    const opened = accessModes(segments.path('82'));
    expect(opened.length).to.equal(before + 1);
    expect(opened.filter((flags) => flags === 0).length, 'O_RDONLY').to.equal(1);
    const [range = ''] = mappings();
    const [from = 0, to = 0] = range
      .split(/[- ]/, 2)
      .map((address) => Number.parseInt(address, 16));
    expect([mappings().length, to - from]).to.deep.equal([1, PAGE]);
    poller.close();
    expect(mappings()).to.deep.equal([]);
    const isClosed = () => accessModes(segments.path('82')).length === before || undefined;
    await waitFor('the descriptor is closed', isClosed);
    waiter.close();
  });

  it('changes no byte of the segment, and does not hold its lock', () => {
    const publisher = segments.publish('82');
    const value = publisher.addVariable(publisher.addRoot('r', 'C'), 'v', 'string');
    value.set('x');
    const before = segments.bytes('82').toString('latin1');
    const poller = segments.poller('82', () => 1n);
    for (let poll = 0; poll < 20; poll++) {
      const { source } = poller.poll();
      if (source !== undefined) readTree(source, TINY.slots);
    }
    expect(segments.bytes('82').toString('latin1') === before, 'untouched').to.equal(true);
    expect(() => segments.publish('82'))
      .to.throw(Fault, `another publisher holds ${segments.path('82')}`)
      .with.property('code', 'SEGMENT_BUSY');
    publisher.close();
    // The reader still has the old file open, but that does not keep other publishers from using the name.
    segments.publish('82');
  });
});
