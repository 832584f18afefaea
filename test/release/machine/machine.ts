// A small Debian without Node.js, compiler or network. It is a folder that scripts enter in namespaces of
// their own.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** `npm run test:release` creates both folders. */
const BASE = 'release/machine';
const RELEASE = 'release';

const { version: VERSION } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string;
};
export { VERSION };

/** The earlier version, from which upgrades begin. */
export const BEFORE = '0.0.1';

export const TARBALL = join(RELEASE, `shm_exporter-${VERSION}-linux-x64.tar.gz`);
export const NPM_PACKAGE = join(RELEASE, `shm-exporter-${VERSION}.tgz`);
export const PUBLISHER_PACKAGE = join(RELEASE, `shm-publisher-${VERSION}.tgz`);
export const debOf = (version: string): string =>
  join(RELEASE, version === VERSION ? '' : 'before', `shm-exporter_${version}_amd64.deb`);

/** Skips the tests of a suite if no machine can be created, and prints the reason. */
export function skipWithout(context: Mocha.Context): void {
  const reason = obstacle();
  if (reason === '') return;
  console.log(`      skipped: ${reason}`);
  context.skip();
}

/** Returns the reason why no machine can be created here; empty if one can. */
function obstacle(): string {
  if (process.getuid?.() !== 0) return 'only root can make a machine';
  if (!existsSync(join(BASE, 'usr/bin/dpkg')))
    return `${BASE} is missing: debootstrap could not make it`;
  const { status, stderr, error } = spawnSync(
    'unshare',
    [...NAMESPACES, 'ip', 'link', 'set', 'lo', 'up'],
    {
      encoding: 'utf8',
    },
  );
  return status === 0 ? '' : `the kernel refuses namespaces: ${error?.message ?? stderr.trim()}`;
}

const NAMESPACES = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--ipc'];

/**
 * Enters the machine. The machine sees only the kernel and a few devices of the host: no network except
 * loopback, no processes, and no shared memory.
 */
const ENTER = `
  ip link set lo up
  mount -t proc proc "$0/proc"
  mount -t tmpfs tmpfs "$0/dev"
  mkdir "$0/dev/shm"
  for device in null zero random urandom; do
    touch "$0/dev/$device"
    mount --bind "/dev/$device" "$0/dev/$device"
  done
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 chroot "$0" /bin/sh -eu -c "$1"
`;

/**
 * Functions for scripts in the machine, and checks that it is bare. The first argument of `scrape` is the
 * Node.js that sends the request.
 */
const WORDS = `
scrape() {
  for attempt in $(seq 100); do
    if "$1" -e "fetch('$2').then(async (answer) => { if (answer.status !== 200) process.exit(1); console.log(await answer.text()) }, () => process.exit(1))"; then return; fi
    sleep 0.2
  done
  echo "no answer from $2" >&2
  exit 1
}
absent() { if command -v "$1" > /dev/null; then echo "there is a $1" >&2; exit 1; fi; }
[ "$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ')" = lo ] || { echo 'there is a network' >&2; exit 1; }
absent node; absent cc; absent gcc; absent npm; absent python3
`;

export interface Outcome {
  readonly stdout: string;
  readonly seconds: number;
}

export class Machine {
  readonly #root = mkdtempSync(join(tmpdir(), 'shm-machine-'));

  constructor(...files: readonly string[]) {
    spawnSync('cp', ['-a', '--reflink=auto', `${BASE}/.`, this.#root]);
    for (const file of files) cpSync(file, join(this.#root, 'root', basename(file)));
  }

  write(name: string, content: string): void {
    writeFileSync(join(this.#root, 'root', name), content);
  }

  /** Runs a script as root in the home folder. All its processes end with it. */
  run(script: string): Outcome {
    const started = performance.now();
    const args = [...NAMESPACES, 'sh', '-eu', '-c', ENTER, this.#root, `cd; ${WORDS}${script}`];
    const { status, stdout, stderr } = spawnSync('unshare', args, {
      encoding: 'utf8',
      timeout: 120_000,
      killSignal: 'SIGKILL',
    });
    if (status !== 0) throw new Error(`The machine: status ${String(status)}\n${stdout}${stderr}`);
    return { stdout, seconds: (performance.now() - started) / 1000 };
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}
