import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BEFORE, Machine, VERSION, debOf, skipWithout } from './machine.js';
import { needsPrograms } from '../../support/needs.js';

const NODE = '/usr/lib/shm_exporter/lib/node';
const AS_USER = 'setpriv --reuid shm_exporter --regid shm_exporter --init-groups';
const install = (version: string) => `dpkg -i shm-exporter_${version}_amd64.deb`;

/** Lists all files except those that the system itself writes at every installation. */
const FILES = `find / -xdev \\( -path /proc -o -path /dev -o -path /run -o -path /root -o -path /var/lib/dpkg -o -path /var/log \\) -prune -o -print | grep -v -E '^/etc/(passwd|group|shadow|gshadow|subuid|subgid)-$' | sort`;

/** Stands in for systemd and records the commands that it is given. */
const STUBS = `
  mkdir -p /run/systemd/system stubs
  for name in systemctl deb-systemd-invoke; do
    printf '#!/bin/sh\\necho "%s $*" >> /root/calls\\n' "$name" > "stubs/$name"
    chmod 755 "stubs/$name"
  done
  PATH=/root/stubs:$PATH
  trap 'rm -r /run/systemd calls' EXIT
`;

/** Runs the exporter as the service would, beside a publisher, and scrapes it. */
const SCRAPE = `
  shm_simulator --app ads --server-key 82 2> /dev/null &
  ${AS_USER} shm_exporter --config /etc/shm_exporter/exporter.toml > log 2>&1 &
  scrape ${NODE} 'http://127.0.0.1:9500/metrics?server_key=82'
  scrape ${NODE} 'http://127.0.0.1:9500/-/metrics'
`;

describe('the .deb, on a machine without Node.js, a compiler or a network', function () {
  this.timeout(240_000).slow(60_000);
  let machine: Machine;
  let installation = 0;
  let present: readonly string[] = [];

  const files = () => machine.run(FILES).stdout.split('\n');
  const changed = () => {
    const now = files();
    return {
      added: now.filter((file) => !present.includes(file)),
      gone: present.filter((file) => !now.includes(file)),
    };
  };

  before(function () {
    skipWithout(this);
    machine = new Machine(debOf(BEFORE), debOf(VERSION));
    present = files();
  });
  after(() => machine.remove());

  it('installs, and reports that the exporter cannot start without a license file', () => {
    const { stdout, seconds } = machine.run(install(BEFORE));
    installation = seconds;
    expect(stdout).to.include('was not started or restarted, since this check failed:');
    expect(stdout).to.include(
      'License file /etc/shm_exporter/license.json cannot be read: no such file or folder',
    );
    const { stdout: account } = machine.run('getent passwd shm_exporter');
    expect(account).to.match(/:\/nonexistent:\/usr\/sbin\/nologin\n$/);
  });

  it('contains the files to set up Prometheus, Grafana and containers', () => {
    const { stdout } = machine.run('cd /usr/share/doc/shm-exporter/deploy && ls -d */*');
    expect(stdout.split('\n')).to.include.members([
      'container/Containerfile',
      'grafana/ads.json',
      'prometheus/prometheus.yml',
    ]);
  });

  it('allows a scrape within a minute after key, license and settings are added', () => {
    const { stdout, seconds } = machine.run(`
      shm_license keygen --out-dir . --name acme
      cp acme.pub.pem /etc/shm_exporter/keys/
      shm_license issue --licensee Test --days 365 --key acme.key.pem --out license.json
      install -m 0640 -g shm_exporter license.json /etc/shm_exporter/license.json
      sed -i 's/^#metrics_port = .*/metrics_port = 9500/' /etc/shm_exporter/exporter.toml
      ${SCRAPE}
    `);
    expect(stdout).to.match(/^ads_process_health_level \d+$/m);
    expect(stdout).to.include(`version="${BEFORE}"`);
    expect(installation + seconds).to.be.below(60);
    console.log(`      ${(installation + seconds).toFixed(1)} s`);
  });

  it('keeps key, license and settings during an upgrade', () => {
    const kept = 'sha256sum $(find /etc/shm_exporter -type f)';
    const { stdout: old } = machine.run(kept);
    const { stdout: said } = machine.run(install(VERSION));
    expect(said).not.to.include('not started');
    expect(machine.run(kept).stdout).to.equal(old);
    const { stdout } = machine.run(`
      shm_license verify /etc/shm_exporter/license.json
      ${SCRAPE}
    `);
    expect(stdout).to.match(/^license \S+ for Test is valid until /);
    expect(stdout).to.include(`version="${VERSION}"`);
  });

  it('restarts running services at an upgrade, but the exporter only if its configuration is valid', () => {
    const calls = (script: string) =>
      machine
        .run(
          `${STUBS}
          ${script}
          cat calls`,
        )
        .stdout.split('\n')
        .filter((line) => /^(systemctl|deb-systemd-invoke) /.test(line));
    const always = ['systemctl daemon-reload', 'deb-systemd-invoke try-restart shm_bridge.service'];
    expect(calls(install(VERSION)).slice(-3)).to.deep.equal([
      ...always,
      'deb-systemd-invoke try-restart shm_exporter.service',
    ]);
    const invalid = `
      cp -p /etc/shm_exporter/exporter.toml kept
      echo 'no_such_key = 1' >> /etc/shm_exporter/exporter.toml
      ${install(VERSION)} > said
      grep -q 'no_such_key' said
      mv kept /etc/shm_exporter/exporter.toml
    `;
    expect(calls(invalid).slice(-2)).to.deep.equal(always);
    const faultyFile = `
      mkdir /etc/shm_exporter/targets.d
      echo 'no_such_key = 1' > /etc/shm_exporter/targets.d/shop.toml
      ${install(VERSION)} > said 2>&1
      grep -q 'targets.d/shop.toml:1:1: no_such_key' said
      rm -r /etc/shm_exporter/targets.d
    `;
    expect(calls(faultyFile).at(-1)).to.equal(
      'deb-systemd-invoke try-restart shm_exporter.service',
    );
  });

  it('keeps key, license and settings when it is removed, and deletes all files when it is purged', () => {
    const { stdout: removed } = machine.run(
      'dpkg -r shm-exporter > log; find /etc/shm_exporter; ls /usr/lib',
    );
    expect(removed).to.include('/etc/shm_exporter/exporter.toml\n');
    expect(removed).to.include('/etc/shm_exporter/keys/acme.pub.pem\n');
    expect(removed).to.include('/etc/shm_exporter/license.json\n');
    expect(removed).not.to.match(/^shm_exporter$/m);
    machine.run('dpkg -P shm-exporter > log');
    expect(changed()).to.deep.equal({ added: [], gone: [] });
    expect(machine.run("grep -r --exclude='*-' shm_exporter /etc || true").stdout).to.equal('');
  });

  it('can be installed again after a purge, and gives no warning at an upgrade if a license exists', () => {
    const { stdout } = machine.run(`
      ${install(VERSION)} > log
      shm_license issue --licensee Test --days 30 --out license.json
      install -m 0640 -g shm_exporter license.json /etc/shm_exporter/license.json
      ${install(VERSION)}
      dpkg -P shm-exporter > log
    `);
    expect(stdout).not.to.include('not started');
    expect(changed()).to.deep.equal({ added: [], gone: [] });
  });
});

describe('the .deb', function () {
  this.timeout(180_000).slow(60_000);

  it('passes lintian', function () {
    needsPrograms(this, 'lintian');
    // lintian leaves a temporary file behind, so it gets a folder that is removed afterwards.
    const folder = mkdtempSync(join(tmpdir(), 'shm-lintian-'));
    const { status, stdout } = spawnSync('lintian', ['--allow-root', debOf(VERSION)], {
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: folder },
    });
    rmSync(folder, { recursive: true });
    expect(stdout).not.to.match(/^E:/m);
    expect(status, stdout).to.equal(0);
  });
});
