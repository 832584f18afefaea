// Tests the directories that processes name in their environment, with a fake /proc.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { count, metricFolder } from './metric-folder.js';

const [OWN, OTHER] = ['mnt:[1]', 'mnt:[2]'];

describe('Directories that processes name in PROMETHEUS_MULTIPROC_DIR', () => {
  const { folder, poller, write, lines, pass, reasonOf } = metricFolder();
  const runs = (pid: number | 'self', space: string, environment: readonly string[] = []): void => {
    const own = folder.path(`proc/${pid}`);
    mkdirSync(`${own}/ns`, { recursive: true });
    symlinkSync(space, `${own}/ns/mnt`);
    writeFileSync(`${own}/environ`, environment.map((each) => `${each}\0`).join(''));
  };
  const finding = () => poller({ directories: [], discover: 'environment', label: 'service' });
  beforeEach(() => {
    runs('self', OWN);
    write('counter_1.db', [count(3)]);
  });
  const shop = (): string => folder.path('shop');

  it('are shown once each, with their paths', () => {
    runs(7, OWN, ['A=b', `PROMETHEUS_MULTIPROC_DIR=${shop()}`]);
    runs(8, OWN, [`PROMETHEUS_MULTIPROC_DIR=${shop()}`]);
    mkdirSync(folder.path('lower'), { mode: 0o755 });
    write('lower/counter_1.db', [count(4)]);
    runs(9, OWN, [`prometheus_multiproc_dir=${folder.path('lower')}`]);
    expect(lines(finding(), 'req_total')).to.have.members([
      `req_total{service="${shop()}"} 3`,
      `req_total{service="${folder.path('lower')}"} 4`,
    ]);
  });

  it('may be in containers, and have the name of the container', () => {
    runs(7, OTHER, ['HOSTNAME=web-1', 'PROMETHEUS_MULTIPROC_DIR=/metrics']);
    runs(8, OTHER, ['HOSTNAME=web-1', 'PROMETHEUS_MULTIPROC_DIR=/metrics']);
    mkdirSync(folder.path('proc/7/root/metrics'), { recursive: true, mode: 0o755 });
    write('proc/7/root/metrics/counter_1.db', [count(5)]);
    expect(lines(finding(), 'req_total')).to.deep.equal(['req_total{service="web-1:/metrics"} 5']);
  });

  it('stay while they exist, also without a process', () => {
    const shown = finding();
    expect(reasonOf(shown)).to.equal('there is no directory in an environment');
    runs(7, OWN, [`PROMETHEUS_MULTIPROC_DIR=${shop()}`]);
    pass(10_000);
    expect(lines(shown, 'req_total')).to.have.length(1);
    rmSync(folder.path('proc/7'), { recursive: true });
    pass(10_000);
    expect(lines(shown, 'req_total')).to.have.length(1);
    rmSync(shop(), { recursive: true });
    pass(10_000);
    expect(reasonOf(shown)).to.equal('there is no directory in an environment');
  });

  it('are not shown if they are no paths', () => {
    for (const [at, path] of ['metrics', '/a/../b', '/a/*', '', '/'].entries())
      runs(7 + at, OWN, [`PROMETHEUS_MULTIPROC_DIR=${path}`]);
    expect(reasonOf(finding())).to.equal('there is no directory in an environment');
  });

  it('are found even if a look at all processes takes several polls', () => {
    for (let pid = 1; pid <= 300; pid++)
      runs(pid, OWN, pid < 300 ? [] : [`PROMETHEUS_MULTIPROC_DIR=${shop()}`]);
    expect(lines(finding(), 'req_total')).to.have.length(1);
  });
});
