// Tests the image of deploy/container: publisher and exporter containers share only memory.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isInstalled } from '../../support/processes.js';
import { suiteFolder } from '../../support/suite-folder.js';
import { signedLicense } from '../../license/signed-license.js';
import { TARBALL, VERSION } from './machine.js';

const BASE = 'release/machine';
const IMAGE = `localhost/shm_exporter:${VERSION}`;

/** The programs need no other libraries, so an image without a base image (FROM scratch) works, too. */
const LIBRARIES = [
  'ld-linux-x86-64',
  'libc',
  'libm',
  'libdl',
  'libpthread',
  'libgcc_s',
  'libstdc++',
];

/**
 * Sets up mounts and a network for the container runtime. The runtime needs one cgroup hierarchy, and may
 * not be allowed to raise limits. It changes the owner of /dev/null to the container's user, so it gets its
 * own /dev/null.
 */
const ENTER = `
  ip link set lo up
  mount -t tmpfs tmpfs /dev/shm
  [ -e "$0/null" ] || mknod -m 0666 "$0/null" c 1 3
  mount --bind "$0/null" /dev/null
  umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
  cd "$0"
  run() {
    podman --root storage --runroot run --storage-driver vfs --cgroup-manager cgroupfs "$@"
  }
  start() {
    run run --network host --cgroups disabled --read-only --read-only-tmpfs=false \\
      --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 "$@"
  }
`;

describe('the container image', function () {
  this.timeout(300_000).slow(120_000);
  const folder = suiteFolder('shm-image-');

  const inside = (script: string) =>
    spawnSync(
      'unshare',
      [
        '--mount',
        '--net',
        '--pid',
        '--fork',
        '--kill-child',
        '--mount-proc',
        'sh',
        '-eu',
        '-c',
        `${ENTER}${script}`,
        folder(),
      ],
      {
        encoding: 'utf8',
        timeout: 240_000,
        killSignal: 'SIGKILL',
      },
    );

  function skip(context: Mocha.Context, reason: string): void {
    console.log(`      skipped: ${reason}`);
    context.skip();
  }

  before(function () {
    if (process.getuid?.() !== 0) skip(this, 'only root can run containers here');
    if (!isInstalled('podman')) skip(this, 'podman is not installed');
    if (!existsSync(BASE)) skip(this, `${BASE} is missing, which the image is made of`);
    mkdirSync(folder('context'));
    mkdirSync(folder('base'));
    copyFileSync(TARBALL, folder('context', basename(TARBALL)));
    copyFileSync('deploy/container/Containerfile', folder('Containerfile'));
    copyLibraries(folder('base'));
    const { status, stderr } = inside(`
      tar -C base -c . | run import -q - localhost/base
      run build -q --isolation chroot --format docker --build-arg BASE=localhost/base \\
        --build-arg VERSION=${VERSION} -t ${IMAGE} -f Containerfile context
    `);
    if (status !== 0) skip(this, `the kernel does not let podman build: ${stderr.trim()}`);
  });

  it('serves the metrics of another container, and is healthy without write access or privileges', function () {
    writeFileSync(folder('license.json'), signedLicense(lasting(20)));
    writeFileSync(
      folder('exporter.toml'),
      'license_file = "license.json"\nmetrics_http_enabled = true\n[[targets]]\napp = "ads"\nserver_key = "82"\n',
    );
    for (const name of ['license.json', 'exporter.toml']) chmodSync(folder(name), 0o644);
    const fetch = (path: string) =>
      `run exec exporter lib/node -e "fetch('http://127.0.0.1:9464${path}').then((a) => a.text()).then(console.log)"`;
    const { status, stdout, stderr } = inside(`
      trap 'run rm -f -t 0 exporter publisher > /dev/null 2>&1' EXIT
      start -d --name publisher -v /dev/shm:/dev/shm --entrypoint '["lib/node", "dist/bin/shm_simulator.js"]' ${IMAGE} \\
        --app ads --server-key 82 > id || { echo REFUSED; exit 0; }
      mkdir etc; cp license.json exporter.toml etc/
      start -d --name exporter -v /dev/shm:/dev/shm:ro --cap-drop all --security-opt no-new-privileges \\
        -v ./etc:/etc/shm_exporter:ro ${IMAGE} > id
      for attempt in $(seq 100); do
        if run healthcheck run exporter > health 2>&1 && run logs exporter 2>&1 | grep -q ' ready: '; then break; fi
        sleep 0.2
      done
      echo "health: $(cat health)"
      run inspect --format 'user: {{.Config.User}}' exporter
      ${fetch('/metrics?server_key=82')}
      run logs exporter
    `);
    if (stdout.includes('REFUSED'))
      skip(this, `the kernel does not let podman run: ${stderr.trim()}`);
    expect(status, `${stdout}${stderr}`).to.equal(0);
    expect(stdout, stderr).to.match(/^ads_process_health_level \d+$/m);
    expect(stdout).to.match(/^health: *(healthy)?$/m);
    expect(stdout).to.include('user: 9464:9464');
  });
});

function copyLibraries(base: string): void {
  const places = [
    'lib/x86_64-linux-gnu',
    'lib64',
    'etc',
    'dev',
    'proc',
    'sys',
    'tmp',
    'run',
    'usr',
  ];
  for (const place of places) mkdirSync(join(base, place), { recursive: true });
  const from = join(BASE, 'usr/lib/x86_64-linux-gnu');
  const named = LIBRARIES.map((name) => `${from}/${name}.so.*`).join(' ');
  const { status, stderr } = spawnSync('sh', [
    '-c',
    `cp -L ${named} ${base}/lib/x86_64-linux-gnu && cp -L ${from}/ld-linux-x86-64.so.2 ${base}/lib64`,
  ]);
  if (status !== 0) throw new Error(stderr.toString());
}

/** Returns the fields of a license that began yesterday. */
function lasting(days: number) {
  const day = 86_400_000;
  const iso = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`;
  return { issued_at: iso(Date.now() - day), expires_at: iso(Date.now() + days * day) };
}
