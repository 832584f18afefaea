// Compares the tree of real JVMs, for each collector, with the output of jcmd.
import { execFile, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { mapCounter } from '#app/hsperfdata/counter-mapping.js';
import { HsperfdataPoller } from '#app/hsperfdata/hsperfdata-poller.js';
import { eventually } from '../support/eventually.js';
import { whileStopped } from '../support/stop-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { valuesOf, pollAll } from '../support/polled-values.js';
import { TILL_CLASS } from './till-class.js';
import { needs, needsPrograms } from '../support/needs.js';

const COLLECTORS = ['G1', 'Z'];
const FLAGS = ['--add-exports', 'java.base/jdk.internal.perf=ALL-UNNAMED', '-Xmx64m'];
const SETTINGS = {
  directories: ['/tmp/hsperfdata_*'],
  containers: false,
  users: [],
  mainClasses: ['Till'],
};

/** Counters by name, as the JVM prints them. Times are in ticks of the JVM's clock, which are nanoseconds. */
type Printed = ReadonlyMap<string, bigint>;

describe('A real JVM', function () {
  const folder = temporaryFolder();
  const running = new Set<ChildProcess>();
  const pollers = new Set<HsperfdataPoller>();
  afterEach(async () => {
    for (const poller of pollers) poller.close();
    pollers.clear();
    for (const child of running) {
      const exit = once(child, 'exit');
      if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await exit;
    }
    running.clear();
  });

  /** Starts a JVM, waits for its first garbage collection, and returns its PID. */
  async function start(...flags: string[]): Promise<number> {
    folder.write('Till.class', TILL_CLASS);
    const line = [...FLAGS, ...flags, '-cp', folder.path(), 'Till', '--password=hunter2'];
    return started(spawn('java', line, { stdio: ['pipe', 'pipe', 'ignore'] }));
  }

  async function started(child: ChildProcessByStdio<Writable, Readable, null>): Promise<number> {
    running.add(child);
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as string[];
    expect(line).to.equal('ready');
    return child.pid ?? 0;
  }

  function openPoller(more: Partial<typeof SETTINGS> = {}): HsperfdataPoller {
    const poller = new HsperfdataPoller('jvm', { ...SETTINGS, ...more }, {});
    pollers.add(poller);
    return poller;
  }

  const run = promisify(execFile);
  /** Returns the numbers that jcmd prints for a JVM. */
  async function printed(pid: number): Promise<Printed> {
    const { stdout } = await run('jcmd', [String(pid), 'PerfCounter.print']);
    // jcmd derives the counters `sun.perfdata.*` from the header. The tree has only `overflow` of them.
    const lines = stdout.matchAll(/^(?!sun\.perfdata\.(?!overflow))([\w.$]+)=(-?\d+)$/gm);
    return new Map([...lines].map(([, name = '', value = '']) => [name, BigInt(value)]));
  }

  /** Returns the numbers of a JVM in the tree, by the names that the JVM gives them. */
  function shown(poller: HsperfdataPoller, pid: number, names: Iterable<string>): Printed {
    const values = valuesOf(pollAll(poller));
    const objects = new Map([...values.keys()].map((key) => [key, values.get(key)]));
    const found = new Map<string, bigint>();
    for (const name of names) {
      const { part, variable } = mapCounter(name);
      const candidates = [...objects].filter(([key]) =>
        part === undefined
          ? key === `${pid} ${variable}`
          : key.startsWith(`${pid}.`) && key.endsWith(` ${variable}`),
      );
      // Skip variables whose name occurs in several collectors or pools. The values of all are compared
      // below.
      const [first, ...others] = candidates;
      if (others.length === 0 && typeof first?.[1] === 'bigint') found.set(name, first[1]);
    }
    return found;
  }

  /** Returns all numbers of a JVM in the order of the tree. */
  const numbersOf = (poller: HsperfdataPoller, pid: number): bigint[] =>
    [...valuesOf(pollAll(poller))]
      .filter(([key]) => key.startsWith(`${pid} `) || key.startsWith(`${pid}.`))
      .flatMap(([, value]) => (typeof value === 'bigint' ? [value] : []));

  for (const collector of COLLECTORS)
    it(`with the collector ${collector} is shown with each number that jcmd prints`, async function () {
      needsPrograms(this, 'java', 'jcmd');
      const flag = `-XX:+Use${collector}GC`;
      const probe = spawnSync('java', [flag, '-version'], { stdio: 'ignore' });
      needs(this, probe.status === 0, `this JVM has no ${collector}`);
      const pid = await start(flag);
      const poller = openPoller();
      await printed(pid);
      const before = await printed(pid);
      const names = [...before.keys()];
      const [ours, all] = await whileStopped([pid], () => [
        shown(poller, pid, names),
        numbersOf(poller, pid),
      ]);
      const after = await printed(pid);
      expect(before.size).to.be.greaterThan(90);
      expect(all.length, 'how many numbers there are').to.equal(before.size);
      for (const [name, value] of ours) {
        const [low = 0n, high = 0n] = [before.get(name), after.get(name)].sort((a, b) =>
          (a ?? 0n) < (b ?? 0n) ? -1 : 1,
        );
        expect(value >= low && value <= high, `${name}: ${low} ${value} ${high}`).to.equal(true);
      }
      // A value that did not change must occur in the tree at least as often as in jcmd's output.
      const still = names.filter((name) => before.get(name) === after.get(name));
      expect(still.length).to.be.greaterThan(before.size * 0.8);
      for (const value of new Set(still.map((name) => before.get(name) ?? 0n))) {
        const often = still.filter((name) => before.get(name) === value).length;
        expect(all.filter((each) => each === value).length, String(value)).to.be.at.least(often);
      }
    });

  it('is shown with its own counters, and with neither its arguments nor its properties', async function () {
    needsPrograms(this, 'java');
    const pid = await start('-Dsecret.token=hunter2');
    const values = valuesOf(pollAll(openPoller()));
    expect(values.get(`${pid}.application org.shop.sales`)).to.equal(42n);
    const texts = [...values.values()].filter((value) => typeof value === 'string').join('\n');
    expect(texts).to.contain('VM').and.not.to.contain('hunter2');
  });

  it('appears without losing its file, and disappears after SIGTERM or SIGKILL', async function () {
    needsPrograms(this, 'java');
    const poller = openPoller();
    pollAll(poller);
    const pids = [await start('-XX:+UseSerialGC'), await start('-XX:+UseSerialGC')];
    const has = (pid: number): boolean =>
      [...valuesOf(pollAll(poller)).keys()].some((key) => key.startsWith(`${pid} `));
    await eventually('both JVMs appear', () => pids.every(has), 2000);
    for (const pid of pids) expect(existsSync(pathOf(pid)), 'its file').to.equal(true);
    const [killed = 0, ended = 0] = pids;
    const gone = [...running].map((child) => once(child, 'exit'));
    process.kill(killed, 'SIGKILL');
    process.kill(ended, 'SIGTERM');
    await Promise.all(gone);
    await eventually('both JVMs have disappeared', () => !pids.some(has), 2000);
  });

  it('is shown after its main thread has ended, for example in a launcher', async function () {
    needsPrograms(this, 'java', 'cc');
    const { binary, reason } = compiledLauncher();
    needs(this, binary !== undefined, reason);
    folder.write('Till.class', TILL_CLASS);
    const pid = await started(
      spawn(binary, [folder.path()], { stdio: ['pipe', 'pipe', 'ignore'] }),
    );
    const stateOf = () =>
      readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) (.).*$/s, '$1');
    await eventually('the main thread has ended', () => stateOf() === 'Z');
    const values = valuesOf(pollAll(openPoller()));
    expect(values.get(`${pid}.application org.shop.sales`)).to.equal(42n);
  });

  it('in another PID namespace with the same /tmp is shown, with its PID on the host, only if containers = true', async function () {
    needsPrograms(this, 'java', 'unshare');
    const namespaces = ['--pid', '--fork', '--mount-proc', '--kill-child'];
    const probe = spawnSync('unshare', [...namespaces, 'true']);
    needs(this, probe.status === 0, 'this process may not make namespaces');
    folder.write('Till.class', TILL_CLASS);
    const line = [...namespaces, 'java', ...FLAGS, '-cp', folder.path(), 'Till'];
    const outer = await started(spawn('unshare', line, { stdio: ['pipe', 'pipe', 'ignore'] }));
    const pid = Number(readFileSync(`/proc/${outer}/task/${outer}/children`, 'utf8'));
    const [one, other] = [openPoller(), openPoller({ containers: true })];
    // Look for this PID only: other tests also run JVMs with the class Till.
    const shows = (poller: HsperfdataPoller): boolean =>
      valuesOf(pollAll(poller)).has(`${pid}.application org.shop.sales`);
    const reason =
      /hsperfdata_\w+\/1 belongs to a JVM in another PID namespace, not to process 1 in this one/;
    await eventually('the JVM is left out', () => reason.test(pollAll(one).publisher.reason));
    await eventually('the JVM appears', () => shows(other));
    expect([shows(one), shows(other)]).to.deep.equal([false, true]);
    process.kill(pid, 'SIGKILL');
    await eventually('the JVM has disappeared', () => !shows(other));
    rmSync(pathOf(1));
  });

  /** Compiles a program that runs Till in a second thread and ends its main thread. */
  function compiledLauncher(): { readonly binary?: string; readonly reason: string } {
    const home = dirname(
      dirname(realpathSync(spawnSync('which', ['java']).stdout.toString().trim())),
    );
    const include = join(home, 'include');
    if (!existsSync(join(include, 'jni.h'))) return { reason: 'the headers of JNI are missing' };
    const binary = folder.path('launcher');
    const includes = [include, join(include, 'linux')].map((path) => `-I${path}`);
    const source = folder.write('launcher.c', launcherSource(join(home, 'lib/server/libjvm.so')));
    const words = ['-o', binary, ...includes, source, '-pthread', '-ldl'];
    expect(spawnSync('cc', words, { encoding: 'utf8' }).stderr).to.equal('');
    return { binary, reason: '' };
  }

  const pathOf = (pid: number): string =>
    `/tmp/hsperfdata_${spawnSync('id', ['-un']).stdout.toString().trim()}/${pid}`;
});

/** The program's argument is the class path. */
const launcherSource = (library: string): string => `
#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <stdio.h>

typedef jint (*create)(JavaVM **, void **, void *);
static char classes[4096];

static void *run(void *unused) {
  JavaVM *vm;
  JNIEnv *env;
  JavaVMOption options[] = {
    { .optionString = classes },
    { .optionString = "-Dsun.java.command=Till" },
    { .optionString = "--add-exports=java.base/jdk.internal.perf=ALL-UNNAMED" },
    { .optionString = "-Xmx64m" },
  };
  JavaVMInitArgs arguments = { .version = JNI_VERSION_10, .nOptions = 4, .options = options };
  create make = (create)dlsym(dlopen("${library}", RTLD_NOW | RTLD_GLOBAL), "JNI_CreateJavaVM");
  if (make(&vm, (void **)&env, &arguments) != JNI_OK) return NULL;
  jclass till = (*env)->FindClass(env, "Till");
  jmethodID begin = (*env)->GetStaticMethodID(env, till, "main", "([Ljava/lang/String;)V");
  jclass text = (*env)->FindClass(env, "java/lang/String");
  (*env)->CallStaticVoidMethod(env, till, begin, (*env)->NewObjectArray(env, 0, text, NULL));
  return unused;
}

int main(int count, char **words) {
  pthread_t thread;
  snprintf(classes, sizeof classes, "-Djava.class.path=%s", count > 1 ? words[1] : ".");
  pthread_create(&thread, NULL, run, NULL);
  pthread_exit(NULL);
}
`;
