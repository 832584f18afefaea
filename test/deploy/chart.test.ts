// Renders the chart of deploy/fleet with Helm, and checks the objects.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import type { SpawnSyncReturns } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { typeErrors } from '../support/kubernetes-types.js';
import type { KubernetesObject } from '../support/kubernetes-types.js';
import { needsNewer, newer } from '../support/newer-programs.js';
import { testPrograms } from '../support/processes.js';

const CHART = 'deploy/fleet/chart';

interface Container {
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}
interface PodSpec {
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string }[];
  readonly nodeSelector?: object;
  readonly tolerations?: readonly object[];
  readonly affinity?: object;
  readonly priorityClassName?: string;
  readonly imagePullSecrets?: readonly object[];
  readonly securityContext: Readonly<Record<string, unknown>>;
}
interface DaemonSet extends KubernetesObject {
  readonly spec: {
    readonly updateStrategy?: object;
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: PodSpec;
    };
  };
}
interface ConfigMap extends KubernetesObject {
  readonly data: { readonly 'exporter.toml': string };
}
interface PodMonitor extends KubernetesObject {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: { readonly podMetricsEndpoints: readonly { readonly interval?: string }[] };
}

const documentsOf = (text: string): readonly KubernetesObject[] =>
  parseAllDocuments(text)
    .map((each) => each.toJS() as KubernetesObject | null)
    .filter((each) => each !== null);
const fileOf = (name: string): readonly KubernetesObject[] =>
  documentsOf(readFileSync(join('deploy/container', name), 'utf8'));
/** The configuration without comments and empty lines. */
const settingsOf = ({ data }: ConfigMap): string =>
  data['exporter.toml'].replaceAll(/^(#.*)?\n/gm, '');

describe(CHART, function () {
  this.slow(10_000);
  const programs = testPrograms();
  before(function () {
    needsNewer(this, 'helm');
  });

  function helm(...words: readonly string[]): SpawnSyncReturns<string> {
    // Helm writes caches and settings below these folders.
    const folders = ['CACHE', 'CONFIG', 'DATA'].map((name) => {
      const path = programs.path(`helm-${name}`);
      mkdirSync(path, { recursive: true });
      return [`HELM_${name}_HOME`, path] as const;
    });
    const env = { ...process.env, ...Object.fromEntries(folders) };
    return spawnSync(newer('helm'), words, { encoding: 'utf8', env });
  }

  /** Renders the chart with these values, which are pairs for `--set-json`. */
  function rendered(values: Readonly<Record<string, unknown>> = {}): readonly KubernetesObject[] {
    const pairs = Object.entries(values).map(
      ([key, value]) => `--set-json=${key}=${JSON.stringify(value)}`,
    );
    const { status, stdout, stderr } = helm('template', 'shm-exporter', CHART, ...pairs);
    expect(status, stderr).to.equal(0);
    return documentsOf(stdout);
  }
  const only = <T extends KubernetesObject>(kind: T['kind'], objects = rendered()): T => {
    const found = objects.filter((each) => each.kind === kind);
    expect(found, kind).to.have.length(1);
    return found[0] as T;
  };
  const daemonSet = (values: Readonly<Record<string, unknown>> = {}): DaemonSet =>
    only<DaemonSet>('DaemonSet', rendered(values));

  it('passes the linter of Helm', () => {
    const { status, stdout, stderr } = helm('lint', '--strict', CHART);
    expect(status, stdout + stderr).to.equal(0);
  });

  it('has the version of the exporter', () => {
    const { version, appVersion } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as {
      readonly version: string;
      readonly appVersion: string;
    };
    const own = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
    expect([version, appVersion]).to.deep.equal([own.version, own.version]);
  });

  it('makes the objects of deploy/container/daemonset.yaml', () => {
    const own = rendered();
    expect(own.map(({ kind }) => kind).sort()).to.deep.equal(['ConfigMap', 'DaemonSet']);
    const plain = fileOf('daemonset.yaml');
    expect(settingsOf(only<ConfigMap>('ConfigMap', own))).to.equal(
      settingsOf(only<ConfigMap>('ConfigMap', plain)),
    );
    const pod = ({ spec }: DaemonSet) => spec.template.spec;
    const expected = pod(only<DaemonSet>('DaemonSet', plain));
    const [{ imagePullPolicy, ...container }] = pod(daemonSet()).containers;
    expect(imagePullPolicy).to.equal('IfNotPresent');
    expect({ ...pod(daemonSet()), containers: [container] }).to.deep.equal(expected);
  });

  it('makes the PodMonitor of deploy/container', () => {
    const own = only<PodMonitor>(
      'PodMonitor',
      rendered({ podMonitor: { enabled: true, labels: { release: 'prometheus' } } }),
    );
    expect(own.metadata.labels).to.include({ release: 'prometheus' });
    const { spec } = only<PodMonitor>('PodMonitor', fileOf('podmonitor.yaml'));
    const endpoints = own.spec.podMetricsEndpoints.map(({ interval, ...rest }) => {
      expect(interval).to.equal('15s');
      return rest;
    });
    expect(endpoints).to.deep.equal(spec.podMetricsEndpoints);
  });

  it('makes objects with the types of Kubernetes and of the Prometheus Operator', () => {
    const plain = [...fileOf('daemonset.yaml'), ...fileOf('podmonitor.yaml')];
    const own = rendered({
      podMonitor: { enabled: true },
      imagePullSecrets: [{ name: 'registry' }],
      tolerations: [{ operator: 'Exists' }],
      affinity: { podAntiAffinity: {} },
    });
    expect(typeErrors([...plain, ...own])).to.deep.equal([]);
    const misspelt = JSON.parse(
      JSON.stringify(own).replaceAll('periodSeconds', 'period'),
    ) as KubernetesObject[];
    expect(typeErrors(misspelt).join()).to.match(/period.*does not exist/);
  });

  it('has a configuration that the exporter accepts', () => {
    const config = { config: '[discover]\nnative = ["shop-*"]\nvarnish = true\n' };
    for (const values of [{}, config]) {
      const text = only<ConfigMap>('ConfigMap', rendered(values)).data['exporter.toml'];
      const file = programs.write(
        'exporter.toml',
        text.replace('/etc/shm_exporter/license/license.json', programs.license),
      );
      const { status, stdout } = programs.run('exporter', '--config', file, '--check-config');
      expect(status, stdout).to.equal(0);
    }
  });

  it('puts each value into the objects', () => {
    const { spec } = daemonSet({
      image: { repository: 'registry.example.net/shm_exporter', tag: '9.9.9' },
      imagePullSecrets: [{ name: 'registry' }],
      licenseSecret: 'site-license',
      keysConfigMap: 'site-keys',
      runAsUser: 4_000_000,
      runAsGroup: 4_000_001,
      maxUnavailable: 3,
      nodeSelector: { pool: 'trading' },
      tolerations: [{ operator: 'Exists' }],
      affinity: { podAntiAffinity: {} },
      priorityClassName: 'system-node-critical',
      podAnnotations: { team: 'feeds' },
      extraVolumes: [{ name: 'varnish', hostPath: { path: '/var/lib/varnish' } }],
      extraVolumeMounts: [{ name: 'varnish', mountPath: '/var/lib/varnish', readOnly: true }],
    });
    const pod = spec.template.spec;
    expect(spec.updateStrategy).to.deep.equal({ rollingUpdate: { maxUnavailable: 3 } });
    expect(spec.template.metadata.annotations).to.include({ team: 'feeds' });
    expect(pod.containers[0].image).to.equal('registry.example.net/shm_exporter:9.9.9');
    expect(pod).to.deep.include({
      imagePullSecrets: [{ name: 'registry' }],
      nodeSelector: { pool: 'trading' },
      tolerations: [{ operator: 'Exists' }],
      affinity: { podAntiAffinity: {} },
      priorityClassName: 'system-node-critical',
    });
    expect(pod.securityContext).to.include({
      ...{ runAsUser: 4_000_000, runAsGroup: 4_000_001, fsGroup: 4_000_001 },
    });
    expect(JSON.stringify(pod.volumes)).to.contain('site-license').and.to.contain('site-keys');
    for (const list of [pod.volumes, pod.containers[0].volumeMounts])
      expect(list.map(({ name }) => name)).to.include('varnish');
  });

  it('restarts the pods after a change of the configuration', () => {
    const sumOf = (config: string) =>
      daemonSet({ config }).spec.template.metadata.annotations['checksum/config'];
    expect(sumOf('debug = true\n')).to.match(/^[0-9a-f]{64}$/);
    expect(sumOf('debug = true\n')).not.to.equal(sumOf('debug = false\n'));
  });

  it('refuses unknown and wrong values, and names them', () => {
    const wrong = { podmonitor: { enabled: true }, runAsUser: 0, licenseSecret: '' };
    for (const [key, value] of Object.entries(wrong)) {
      const pair = `--set-json=${key}=${JSON.stringify(value)}`;
      const { status, stderr } = helm('template', 'shm-exporter', CHART, pair);
      expect(status, key).not.to.equal(0);
      expect(stderr).to.contain(key);
    }
  });

  it('says after an installation whether the exporter runs and who scrapes it', () => {
    const words = ['install', 'shm-exporter', CHART, '--dry-run=client', '--namespace', 'metrics'];
    const { status, stdout, stderr } = helm(...words);
    expect(status, stderr).to.equal(0);
    expect(stdout)
      .to.contain('kubectl --namespace metrics rollout status daemonset/shm-exporter')
      .and.to.contain('deploy/fleet/kubernetes.yml');
  });
});
