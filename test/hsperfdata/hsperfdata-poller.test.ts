// Tests the tree of all JVMs of a host: discovery, start and end of JVMs, and the content of each.
import type { ChildProcess } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  chmodSync,
  symlinkSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import type { HsperfdataPoller } from '#app/hsperfdata/hsperfdata-poller.js';
import type { PollResult } from '#app/streams/poller.js';
import { withFastClock } from '../support/fast-clock.js';
import { processWithPid } from '../support/process-with-pid.js';
import { perfFile, someCounters } from './perf-file.js';
import { perfFolder } from './perf-folder.js';
import { SetClocks, objectsBelow, valuesOf, pollAll } from '../support/polled-values.js';
import { needsRoot } from '../support/needs.js';

/**
 * A counter file. Each test makes a new one: the file states when its JVM started, which must not be long
 * before the start of the JVM's process.
 */
let file = perfFile(someCounters());

/** Returns the PIDs of the JVMs in the tree. */
const pidsOf = (poller: HsperfdataPoller): string[] => pidsIn(pollAll(poller));

function pidsIn({ source }: PollResult): string[] {
  const [root] = source?.roots ?? [];
  return [...(root?.children ?? [])].map(({ labels }) => labels?.['pid'] ?? '').sort();
}

describe('A JVM poller', () => {
  const folder = perfFolder();
  beforeEach(() => (file = perfFile(someCounters())));
  const clocks = new SetClocks();
  const pass = (ms: number) => (clocks.ms += ms);
  const openPoller = (settings: Parameters<typeof folder.poller>[0] = {}, options = {}) =>
    folder.poller(settings, { clocks, ...options });

  describe('(values)', () => {
    it('shows each counter in its object, under the name in the counter file', () => {
      const pid = folder.process();
      folder.write(pid, file.bytes);
      const values = valuesOf(pollAll(openPoller()));
      expect(Object.fromEntries(values)).to.deep.equal({
        ' shown': 1n,
        ' leftOut': 0n,
        [`${pid} sun.rt.createVmBeginTime`]: values.get(`${pid} sun.rt.createVmBeginTime`),
        [`${pid} sun.os.hrt.frequency`]: 1_000_000_000n,
        [`${pid} java.property.java.vm.name`]: 'Test VM',
        [`${pid} sun.perfdata.overflow`]: 0n,
        [`${pid} java.threads.live`]: 12n,
        [`${pid} java.threads.started`]: 2n ** 40n,
        [`${pid} sun.rt.safepointTime`]: 313_775_303n,
        [`${pid}.gc.Test collections invocations`]: 7n,
        [`${pid}.gc.Test collections time`]: 1_500_000_001n,
        [`${pid}.pool.young eden used`]: 4096n,
        [`${pid}.pool.metaspace used`]: 8192n,
        [`${pid}.application org.shop.sales`]: -5n,
      });
    });

    it('labels every object with the PID and main class, but not with arguments', () => {
      const pid = folder.process();
      folder.write(pid, file.bytes);
      const { source } = pollAll(openPoller());
      const [root] = source?.roots ?? [];
      const objects = root === undefined ? [] : [...objectsBelow(root)].slice(1);
      expect(objects.length).to.be.greaterThan(4);
      for (const { labels } of objects)
        expect(labels).to.deep.equal({ pid: String(pid), main_class: 'org.shop.Till' });
    });

    it('states when each JVM started', () => {
      folder.write(folder.process(), file.bytes);
      const seen = pollAll(openPoller());
      const [jvm] = [...(seen.source?.roots ?? [])].flatMap(({ children }) => [...children]);
      const begin = [...valuesOf(seen)].find(([name]) => name.endsWith('createVmBeginTime'));
      expect(jvm?.startedUnixMs).to.equal(Number(begin?.[1]));
    });

    it('never stores command lines, properties or arguments', () => {
      folder.write(folder.process(), file.bytes);
      const seen = pollAll(openPoller());
      const names = [...valuesOf(seen).keys()].join('\n');
      expect(names).not.to.match(/vmArgs|javaCommand/);
      expect(JSON.stringify([...valuesOf(seen).values()].map(String))).not.to.contain('hunter2');
    });

    const programs = [
      ['a JAR', '/opt/my app/se rv.jar', '/opt/my app/se rv.jar', 'se rv.jar'],
      [
        'a JAR with arguments',
        '/opt/my app/se rv.jar --password=hunter2',
        '/opt/my app/se rv.jar',
        'se rv.jar',
      ],
      ['a module with arguments', 'shop/org.shop.Till --password hunter2', '', 'org.shop.Till'],
      [
        'a class with a path as argument',
        'org.shop.Till /opt/my app',
        '/opt/my app:/opt/lib',
        'org.shop.Till',
      ],
      ['a class with an option', 'org.shop.Till --x', 'org.shop', 'org.shop.Till'],
    ] as const;
    for (const [what, command, classPath, mainClass] of programs)
      it(`shows the main class "${mainClass}" for ${what}`, () => {
        const texts = [
          { name: 'java.property.java.class.path', value: classPath },
          { name: 'sun.rt.javaCommand', value: command },
        ];
        const others = someCounters().filter(({ name }) => name !== 'sun.rt.javaCommand');
        folder.write(folder.process(), perfFile([...texts, ...others]).bytes);
        const [root] = pollAll(openPoller()).source?.roots ?? [];
        const [jvm] = root?.children ?? [];
        expect(jvm?.labels?.['main_class']).to.equal(mainClass);
      });

    it('reads a file with the opposite byte order', () => {
      const [one, other] = [folder.process(), folder.process()];
      folder.write(one, file.bytes);
      folder.write(other, perfFile(someCounters(), { isBigEndian: true }).bytes);
      const values = valuesOf(pollAll(openPoller()));
      for (const name of ['java.threads.started', 'sun.rt.safepointTime', 'sun.os.hrt.frequency'])
        expect(values.get(`${other} ${name}`), name).to.equal(values.get(`${one} ${name}`));
      expect(values.get(`${other}.application org.shop.sales`)).to.equal(-5n);
    });

    const clocksOfJvms = [
      [1_000_000_000n, 313_775_303n],
      [1_000_000n, 313_775_303_000n],
      [1n, 313_775_303_000_000_000n],
    ] as const;
    for (const [frequency, nanoseconds] of clocksOfJvms)
      it(`converts ticks of ${frequency} Hz to exact nanoseconds`, () => {
        const pid = folder.process();
        const counters = someCounters().map((counter) =>
          counter.name === 'sun.os.hrt.frequency' ? { ...counter, value: frequency } : counter,
        );
        folder.write(pid, perfFile(counters).bytes);
        const values = valuesOf(pollAll(openPoller()));
        expect(values.get(`${pid} sun.rt.safepointTime`)).to.equal(nanoseconds);
      });

    it('omits counters of clock ticks if the file does not state the frequency of the clock', () => {
      const pid = folder.process();
      const counters = someCounters().filter(({ name }) => name !== 'sun.os.hrt.frequency');
      folder.write(pid, perfFile(counters).bytes);
      const values = valuesOf(pollAll(openPoller()));
      expect(values.has(`${pid} sun.rt.safepointTime`)).to.equal(false);
      expect(values.get(`${pid} java.threads.live`)).to.equal(12n);
    });

    it('reads the newest numbers and texts at each copy', () => {
      const pid = folder.process();
      const path = folder.write(pid, file.bytes);
      const seen = pollAll(openPoller());
      const number = Buffer.alloc(8);
      number.writeBigInt64LE(99n);
      folder.poke(path, file.valueAt.get('java.threads.live') ?? 0, number);
      folder.poke(path, file.valueAt.get('java.property.java.vm.name') ?? 0, Buffer.from('Neu\0'));
      const values = valuesOf(seen);
      expect(values.get(`${pid} java.threads.live`)).to.equal(99n);
      expect(values.get(`${pid} java.property.java.vm.name`)).to.equal('Neu');
    });

    it('adds a new counter once its entry is complete', () => {
      const pid = folder.process();
      const path = folder.write(pid, perfFile(someCounters(), { unfilled: 1 }).bytes);
      const poller = openPoller();
      const seen = pollAll(poller);
      expect(valuesOf(seen).get(`${pid} java.threads.live`)).to.equal(12n);
      const more = [...someCounters(), { name: 'org.shop.queue', value: 3n }];
      folder.poke(path, 0, perfFile(more, { modified: 2n }).bytes);
      valuesOf(seen);
      const values = valuesOf(pollAll(poller));
      expect(values.get(`${pid}.application org.shop.queue`)).to.equal(3n);
      expect(values.get(`${pid}.application org.shop.sales`)).to.equal(-5n);
    });
  });

  describe('(starts and ends)', () => {
    it('is live before the first JVM starts, and finds the directory and file of this JVM later', () => {
      const poller = openPoller();
      expect(pollAll(poller).publisher).to.deep.equal({
        state: 'live',
        reason: '0 JVMs are shown',
      });
      const pid = folder.process();
      folder.write(pid, file.bytes);
      expect(pidsOf(poller)).to.deep.equal([String(pid)]);
    });

    it('ends a wait for notifications when a file appears in a known directory', async () => {
      folder.make();
      const poller = openPoller();
      const { notifications } = pollAll(poller);
      const pid = folder.process();
      await new Promise<void>((resolve) => {
        poller.wait(notifications, resolve);
        folder.write(pid, file.bytes);
      });
      expect(pidsOf(poller)).to.deep.equal([String(pid)]);
    });

    it('removes a JVM after its file is removed', () => {
      const [one, other] = [folder.process(), folder.process()];
      for (const pid of [one, other]) folder.write(pid, file.bytes);
      const poller = openPoller();
      expect(pidsOf(poller)).to.have.length(2);
      folder.remove(one);
      expect(pidsOf(poller)).to.deep.equal([String(other)]);
    });

    it('removes a killed JVM even if its file remains', async () => {
      const pid = folder.process();
      folder.write(pid, file.bytes);
      const poller = openPoller();
      expect(pidsOf(poller)).to.deep.equal([String(pid)]);
      await folder.kill(pid);
      pass(500);
      expect(pidsOf(poller)).to.deep.equal([]);
    });

    it('omits the file of an ended JVM if another process has its PID at the first poll', () => {
      const pid = folder.process();
      const begin = { name: 'sun.rt.createVmBeginTime', value: BigInt(Date.now() - 3_600_000) };
      folder.writeUnmapped(pid, perfFile([begin, ...someCounters().slice(1)]).bytes);
      expect(pidsOf(openPoller())).to.deep.equal([]);
    });

    it('shows a JVM only once its counters change if /proc/PID/maps is unreadable', () => {
      const pid = folder.process();
      const path = folder.write(pid, file.bytes);
      const uid = String(getuid?.());
      for (const name of ['maps', 'status']) rmSync(folder.proc(String(pid), name));
      writeFileSync(folder.proc(String(pid), 'status'), `Uid:\t${uid}\nThreads:\t19\n`);
      const poller = openPoller();
      for (let poll = 0; poll < 3; poll++) {
        expect(pidsOf(poller)).to.deep.equal([]);
        pass(200);
      }
      folder.poke(path, file.valueAt.get('java.threads.live') ?? 0, Buffer.from([13]));
      pass(200);
      expect(pidsOf(poller)).to.deep.equal([String(pid)]);
    });

    it('removes an ended JVM, even if another process gets its PID at once', async function () {
      needsRoot(this);
      let poller = openPoller();
      let other: ChildProcess | undefined;
      // Try several times, because another process of the system may take the PID first.
      for (let attempt = 0; other === undefined && attempt < 10; attempt++) {
        const pid = folder.process();
        folder.write(pid, file.bytes);
        poller = openPoller();
        expect(pidsOf(poller)).to.deep.equal([String(pid)]);
        // Wait, because process start times have a resolution of a hundredth of a second.
        await setTimeout(20);
        await folder.kill(pid);
        other = processWithPid(pid);
        if (other === undefined) folder.remove(pid);
      }
      try {
        expect(other, 'one with the number').not.to.equal(undefined);
        for (let poll = 0; poll < 3; poll++) {
          pass(6000);
          expect(pidsOf(poller)).to.deep.equal([]);
        }
      } finally {
        other?.kill('SIGKILL');
      }
    });

    it('shows a JVM that reuses the PID of an ended JVM as a new object', () => {
      const pid = folder.process();
      const path = folder.write(pid, file.bytes);
      const poller = openPoller();
      const before = pollAll(poller);
      const [root] = before.source?.roots ?? [];
      const [former] = root?.children ?? [];
      folder.write(pid, perfFile(someCounters('org.shop.Other')).bytes);
      expect(path).to.contain(String(pid));
      valuesOf(before);
      pollAll(poller);
      const [present] = root?.children ?? [];
      expect(present?.id).to.be.greaterThan(former?.id ?? Infinity);
      expect(present?.labels?.['main_class']).to.equal('org.shop.Other');
    });

    it('shows no values of a JVM once its file belongs to another JVM', () => {
      const pid = folder.process();
      const path = folder.write(pid, file.bytes);
      const seen = pollAll(openPoller());
      const renamed = file.bytes
        .toString('latin1')
        .replace('java.threads.live', 'java.threads.nine');
      folder.poke(path, 0, Buffer.from(renamed, 'latin1'));
      expect(valuesOf(seen).get(`${pid} java.threads.live`)).to.equal(undefined);
    });

    it('shows no values of a truncated or unfinished file', () => {
      const [one, other] = [folder.process(), folder.process()];
      const path = folder.write(one, file.bytes);
      folder.write(other, perfFile(someCounters(), { isAccessible: false }).bytes);
      const poller = openPoller();
      const seen = pollAll(poller);
      expect(pidsOf(poller)).to.deep.equal([String(one)]);
      truncateSync(path, 100);
      expect(valuesOf(seen).get(`${one} java.threads.live`)).to.equal(undefined);
      folder.write(other, file.bytes);
      pass(200);
      expect(pidsOf(poller)).to.deep.equal([String(other)]);
    });

    it('adds and removes each of fifty JVMs, however each JVM ends', async () => {
      const poller = openPoller();
      for (let number = 0; number < 50; number++) {
        const pid = folder.process();
        folder.write(pid, file.bytes);
        expect(pidsOf(poller), 'as soon as its file is there').to.deep.equal([String(pid)]);
        if (number % 2 === 0) folder.remove(pid);
        await folder.kill(pid);
        pass(500);
        expect(pidsOf(poller), 'as soon as its end is looked for').to.deep.equal([]);
      }
    });

    it('reuses the slots of an ended JVM, with new incarnations', () => {
      const poller = openPoller();
      const values = new Map<string, bigint | string | undefined>();
      for (let round = 0; round < 20; round++) {
        const pid = folder.process();
        folder.write(pid, file.bytes);
        for (const [name, value] of valuesOf(pollAll(poller))) values.set(name, value);
        expect(values.get(`${pid} java.threads.live`)).to.equal(12n);
        folder.remove(pid);
      }
      const all = Buffer.alloc(65_536 * 8);
      expect(pollAll(poller).source?.readSlots(0, 65_536, all)).to.be.at.most(1024);
    });
  });

  describe('(selection of files)', () => {
    const shownOf = (settings: Parameters<typeof folder.poller>[0], options = {}) =>
      pidsOf(openPoller(settings, options));

    it('shows only the JVMs of the configured users and main classes', () => {
      const [one, other, third] = [folder.process(), folder.process(), folder.process()];
      folder.write(one, file.bytes, 'kafka');
      folder.write(other, file.bytes, 'shop');
      folder.write(third, perfFile(someCounters('/opt/shop/till.jar')).bytes, 'shop');
      expect(shownOf({ users: ['ka*'] })).to.deep.equal([String(one)]);
      expect(shownOf({ mainClasses: ['*.jar'] })).to.deep.equal([String(third)]);
      expect(shownOf({ users: ['shop'], mainClasses: ['org.*'] })).to.deep.equal([String(other)]);
      expect(shownOf({ mainClasses: ['Till'] })).to.deep.equal([]);
    });

    const late = [
      ['shows a JVM without a main class until it writes one', [], ['']],
      [
        'shows a JVM that writes its main class late if the configuration includes it',
        ['Till'],
        [],
      ],
    ] as const;
    for (const [title, mainClasses, before] of late)
      it(title, () => {
        const counters = someCounters('shop/Till');
        const isCommand = ({ name }: { readonly name: string }): boolean =>
          name === 'sun.rt.javaCommand';
        const unnamed = counters.filter((each) => !isCommand(each));
        const pid = folder.process();
        folder.write(pid, perfFile(unnamed).bytes);
        const poller = openPoller({ mainClasses });
        const names = () => {
          const seen = pollAll(poller);
          valuesOf(seen);
          const [root] = pollAll(poller).source?.roots ?? [];
          return [...(root?.children ?? [])].map(({ labels }) => labels?.['main_class']);
        };
        expect(names(), 'at first').to.deep.equal([]);
        pass(1000);
        expect(names(), 'after a second').to.deep.equal(before);
        folder.write(pid, perfFile([...unnamed, ...counters.filter(isCommand)]).bytes);
        pass(1000);
        expect(names(), 'after the name').to.deep.equal(['Till']);
      });

    const damages: readonly (readonly [what: string, make: (path: string) => void, why: RegExp])[] =
      [
        [
          'a file that other users may write',
          (path) => {
            chmodSync(path, 0o622);
          },
          /is writable by other users/,
        ],
        [
          'a file with a second name',
          (path) => {
            linkSync(path, `${path}x`);
          },
          /has 2 hard links, allowed: 1/,
        ],
        [
          'a file of the wrong kind',
          (path) => {
            truncateSync(path, 0);
            folderWrite(path, 'no perf data here, but text of some length');
          },
          /does not begin with/,
        ],
        [
          'a link',
          (path) => {
            renameSync(path, `${path}x`);
            symlinkSync(`${path}x`, path);
          },
          /is a link/,
        ],
        [
          'a folder',
          (path) => {
            renameSync(path, `${path}x`);
            mkdirSync(path);
          },
          /is not a regular file/,
        ],
      ];
    const folderWrite = (path: string, text: string): void => {
      folder.poke(path, 0, Buffer.from(text));
    };
    for (const [what, make, why] of damages)
      it(`omits ${what}, and reports its path with the reason`, () => {
        const pid = folder.process();
        make(folder.write(pid, file.bytes));
        const poller = openPoller();
        const { publisher } = pollAll(poller);
        expect(publisher.reason).to.match(why).and.to.contain(`hsperfdata_shop/${pid} `);
        expect(pidsOf(poller)).to.deep.equal([]);
      });

    it('omits a directory that is a link, or that other users may write', () => {
      const pid = folder.process();
      folder.write(pid, file.bytes);
      chmodSync(folder.directory(), 0o777);
      expect(pollAll(openPoller()).publisher.reason).to.match(
        /^0 JVMs are shown, 1 left out: directory .*hsperfdata_shop is writable by other users$/,
      );
      chmodSync(folder.directory(), 0o755);
      renameSync(folder.directory(), join(folder.directory(), '..', 'elsewhere'));
      symlinkSync('elsewhere', folder.directory());
      expect(shownOf({})).to.deep.equal([]);
    });

    it('does not read a file of an unknown version', () => {
      folder.write(folder.process(), perfFile(someCounters(), { major: 3 }).bytes);
      expect(pollAll(openPoller()).publisher.reason).to.contain(
        'version 3 of the format, allowed: 2',
      );
    });

    it('asks for another poll until it has looked at each process for containers once', () => {
      /** Gives a process of the fake /proc its namespaces. */
      const put = (pid: number | 'self', space: string): void => {
        const own = folder.proc(String(pid), 'ns');
        mkdirSync(own, { recursive: true });
        for (const kind of ['mnt', 'pid']) symlinkSync(`${kind}:[${space}]`, join(own, kind));
      };
      const BEYOND_ALL = 5_000_000;
      for (let i = 0; i < 200; i++) put(BEYOND_ALL + i, 'host');
      put('self', 'host');
      const pid = folder.process();
      put(pid, 'container');
      const box = folder.proc('..', 'box');
      symlinkSync(box, folder.proc(String(pid), 'root'));
      mkdirSync(join(box, 'tmp/hsperfdata_shop'), { recursive: true, mode: 0o755 });
      const path = join(box, 'tmp/hsperfdata_shop', String(pid));
      writeFileSync(path, file.bytes, { mode: 0o600 });
      folder.map(pid, path);
      const poller = openPoller({ containers: true });
      withFastClock(() => {
        expect(poller.poll().hasMore).to.equal(true);
        expect(pidsOf(poller)).to.deep.equal([String(pid)]);
      });
    });

    it('shows a JVM among thousands of files of ended processes', () => {
      const BEYOND_ALL = 5_000_000;
      for (let i = 0; i < 3000; i++) folder.write(BEYOND_ALL + i, Buffer.alloc(0), 'other');
      const pids = [folder.process()];
      folder.write(pids[0] ?? 0, file.bytes);
      const poller = openPoller();
      /** Polls until all names have been read once, and returns the PIDs of the JVMs in the tree. */
      const shown = () => {
        for (let polls = 0; polls < 500; polls++) {
          const { hasMore } = poller.poll();
          pass(300);
          if (!hasMore) return pidsIn(poller.poll());
        }
        return ['never'];
      };
      expect(shown()).to.deep.equal(pids.map(String));
      pids.push(folder.process());
      folder.write(pids[1] ?? 0, file.bytes);
      pass(2000);
      shown();
      expect(shown()).to.deep.equal(pids.map(String).sort());
    });

    const HIDDEN = 5_000_000;
    /** Polls, changes a counter in the file, and polls again. */
    function pollAroundChange(path: string, settings: Parameters<typeof folder.poller>[0] = {}) {
      const poller = openPoller(settings);
      pollAll(poller);
      folder.poke(path, file.valueAt.get('java.threads.live') ?? 0, Buffer.from([13]));
      pass(200);
      return { poller, seen: pollAll(poller) };
    }
    const leftOut = ({ publisher }: PollResult) => publisher.reason;

    it("omits a JVM of another PID namespace if a process in the poller's namespace has the same PID", () => {
      const pid = folder.process();
      const { poller, seen } = pollAroundChange(folder.writeUnmapped(pid, file.bytes));
      expect(pidsIn(seen)).to.deep.equal([]);
      expect(valuesOf(seen).get(' leftOut')).to.equal(1n);
      expect(leftOut(seen)).to.match(
        /^0 JVMs are shown, 1 left out: \S+\/hsperfdata_shop\/(\d+) belongs to a JVM in another PID namespace, not to process \1 in this one: set containers = true to show it$/,
      );
      pass(5000);
      pollAll(poller);
      pass(200);
      expect(leftOut(pollAll(poller)), 'once its clock has stopped').to.equal('0 JVMs are shown');
    });

    it("omits a JVM of another PID namespace even if no process in the poller's namespace has the same PID", () => {
      const { seen } = pollAroundChange(folder.writeUnmapped(HIDDEN, file.bytes));
      expect(leftOut(seen)).to.contain(
        'in another PID namespace, not to process 5000000 in this one',
      );
    });

    it('explains why /proc hides the process of a JVM, and how to make the process visible', () => {
      rmSync(folder.proc('1'));
      mkdirSync(folder.proc('self'));
      const mount = `22 27 0:21 / ${folder.proc()} rw,relatime - proc proc rw,hidepid=invisible\n`;
      writeFileSync(folder.proc('self', 'mountinfo'), mount);
      const { seen } = pollAroundChange(folder.writeUnmapped(HIDDEN, file.bytes));
      expect(leftOut(seen)).to.match(
        /belongs to a JVM whose process is hidden in \/proc \(hidepid=invisible\): give the exporter CAP_SYS_PTRACE or /,
      );
      expect(seen.warnings?.join()).to.match(/^\/proc hides the processes of other users/);
    });

    it('does not count files of ended JVMs, or of JVMs with other main classes, as omitted', () => {
      folder.writeUnmapped(HIDDEN, file.bytes);
      const still = openPoller();
      pollAll(still);
      pass(200);
      expect(leftOut(pollAll(still))).to.equal('0 JVMs are shown');
      const { seen } = pollAroundChange(folder.writeUnmapped(HIDDEN, file.bytes), {
        mainClasses: ['kafka.Kafka'],
      });
      expect(leftOut(seen)).to.equal('0 JVMs are shown');
    });

    it('reports a running JVM whose file was removed, until the JVM ends', async () => {
      const pid = folder.process();
      folder.write(pid, file.bytes);
      const poller = openPoller();
      expect(pidsOf(poller)).to.deep.equal([String(pid)]);
      folder.remove(pid);
      expect(leftOut(pollAll(poller)), 'it may be about to end').to.equal('0 JVMs are shown');
      pass(5000);
      expect(leftOut(pollAll(poller))).to.match(
        /^0 JVMs are shown, 1 left out: \S+hsperfdata_shop\/\d+ was removed although its JVM still runs/,
      );
      await folder.kill(pid);
      expect(leftOut(pollAll(poller))).to.equal('0 JVMs are shown');
    });

    it('warns about too many names in a directory, and about too many directories', () => {
      const own = folder.make();
      // Hard links to two files: creating a link takes a fifth of the time that a file takes, and ext4
      // allows 65,000 links per file.
      for (let i = 0; i <= 65_536; i++) {
        const first = join(own, `x${i % 2}`);
        if (i < 2) writeFileSync(first, '');
        else linkSync(first, join(own, `x${i}`));
      }
      for (let i = 0; i < 1024; i++) folder.make(`u${i}`);
      const seen = pollAll(openPoller());
      expect(valuesOf(seen).get(' leftOut')).to.equal(2n);
      const warnings = seen.warnings?.join('\n');
      expect(warnings)
        .to.match(/has 1025 directories of counter files, and only 1024 are read/)
        .and.to.match(
          /hsperfdata_shop has more than 65536 files and folders; the others are not read/,
        );
      const chosen = pollAll(openPoller({ users: ['u1000'] }));
      expect(chosen.warnings, 'of users who are not wanted').to.deep.equal([]);
    });

    it('omits a JVM completely if its items exceed segment_max_items', () => {
      const [one, other] = [folder.process(), folder.process()];
      for (const pid of [one, other]) folder.write(pid, file.bytes);
      const poller = openPoller({}, { segmentMaxItems: 30 });
      expect(pidsOf(poller)).to.have.length(1);
      expect(pollAll(poller).publisher.reason).to.contain('segment_max_items');
    });
  });
});
