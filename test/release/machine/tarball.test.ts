import { expect } from 'chai';
import { Machine, TARBALL, VERSION, skipWithout } from './machine.js';

const FOLDER = `/opt/shm_exporter-${VERSION}-linux-x64`;

describe('the tarball, on a machine without Node.js, a compiler or a network', function () {
  this.timeout(180_000).slow(60_000);
  let machine: Machine;

  before(function () {
    skipWithout(this);
    machine = new Machine(TARBALL);
  });
  after(() => machine.remove());

  it('allows a scrape within a minute of unpacking', () => {
    const { stdout, seconds } = machine.run(`
      tar -xzf shm_exporter-${VERSION}-linux-x64.tar.gz -C /opt
      ln -s ${FOLDER} /opt/shm_exporter
      PATH=/opt/shm_exporter/bin:$PATH
      shm_license issue --licensee Test --days 30 --out license.json
      shm_simulator --app ads --server-key 82 2> simulator.log &
      shm_exporter --app ads --server-key 82 --license-file license.json --enable-metrics-http > log 2>&1 &
      scrape /opt/shm_exporter/lib/node 'http://127.0.0.1:9464/metrics?server_key=82'
    `);
    expect(stdout).to.match(/^ads_process_health_level \d+$/m);
    expect(seconds).to.be.below(60);
    console.log(`      ${seconds.toFixed(1)} s`);
  });

  it('starts from any folder, through links, without PATH, and with threads', () => {
    const { stdout } = machine.run(`
      ln -s ../../opt/shm_exporter/bin/shm_exporter /usr/bin/shm_exporter
      ln -s /usr/bin/shm_exporter /tmp/again
      cd /usr && shm_exporter --version && /tmp/again --version
      cd /opt/shm_exporter/bin && sh shm_exporter --version
      env -i ${FOLDER}/bin/shm_bridge --version
      cd && printf 'worker_execution_mode = "threaded"\\nlicense_file = "license.json"\\n' > threaded.toml
      shm_simulator() { /opt/shm_exporter/bin/shm_simulator "$@"; }
      shm_simulator --app ads --server-key 82 2> simulator.log &
      shm_exporter --config threaded.toml --enable-metrics-http > log 2>&1 &
      scrape /opt/shm_exporter/lib/node 'http://127.0.0.1:9464/metrics'
      tr '\\0' ' ' < /proc/$!/cmdline
    `);
    const lines = stdout.split('\n');
    expect(lines.slice(0, 4)).to.deep.equal(Array.from({ length: 4 }, () => VERSION));
    expect(stdout).to.match(/^ads_process_health_level \d+$/m);
    expect(stdout).to.match(/^\S+\/lib\/node --v8-pool-size=1 .*\/shm_exporter\.js --config /m);
  });

  it('contains manual pages, completions, units, examples, licenses and the bill of materials', () => {
    const { stdout } = machine.run(`cd ${FOLDER} && find . -type f | sort`);
    expect(stdout.split('\n')).to.include.members([
      './LICENSE',
      './deploy/container/Containerfile',
      './deploy/shm_exporter.service',
      './docs/install.md',
      './examples/shm_exporter.toml',
      './include/shm_metrics.h',
      './licenses/node/LICENSE',
      './licenses/libffi/LICENSE',
      './sbom.cdx.json',
      './sdk/c/shm_publisher.h',
      './share/bash-completion/completions/shm_exporter',
      './share/fish/vendor_completions.d/shm_exporter.fish',
      './share/man/man1/shm_exporter.1',
      './share/pkgconfig/shm_publisher.pc',
      './share/zsh/vendor-completions/_shm_exporter',
    ]);
  });
});
