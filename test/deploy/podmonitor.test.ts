// Tests that the PodMonitor for the Prometheus Operator sets the jobs and labels that rules and dashboards
// select.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';

interface Relabeling {
  readonly targetLabel?: string;
  readonly replacement?: string;
  readonly regex?: string;
  readonly action?: string;
}
interface Endpoint {
  readonly port: string;
  readonly path: string;
  readonly honorLabels: boolean;
  readonly params?: { readonly server_key: readonly [string] };
  readonly relabelings: readonly Relabeling[];
  readonly metricRelabelings?: readonly Relabeling[];
}
interface PodMonitor {
  readonly spec: {
    readonly selector: object;
    readonly podMetricsEndpoints: readonly [exporter: Endpoint, target: Endpoint];
  };
}
interface Job {
  readonly job_name: string;
  readonly honor_labels: boolean;
  readonly metric_relabel_configs?: readonly Relabeling[];
}
interface DaemonSet {
  readonly kind: string;
  readonly spec: {
    readonly selector: object;
    readonly template: {
      readonly spec: { readonly containers: [{ readonly ports: [{ readonly name: string }] }] };
    };
  };
}

const read = (file: string): string => readFileSync(`deploy/${file}`, 'utf8');

describe('deploy/container/podmonitor.yaml', () => {
  const { spec } = parse(read('container/podmonitor.yaml')) as PodMonitor;
  const [exporter, target] = spec.podMetricsEndpoints;
  const daemonset = read('container/daemonset.yaml');
  const documents = parseAllDocuments(daemonset).map((each) => each.toJS() as DaemonSet);
  const set = documents.find(({ kind }) => kind === 'DaemonSet');
  const labelOf = ({ relabelings }: Endpoint, name: string) =>
    relabelings.find(({ targetLabel }) => targetLabel === name)?.replacement ?? '';

  it('selects the pods of the DaemonSet and their port', () => {
    expect(spec.selector).to.deep.equal(set?.spec.selector);
    const [container] = set?.spec.template.spec.containers ?? [];
    for (const { port } of spec.podMetricsEndpoints)
      expect(port).to.equal(container?.ports[0].name);
  });

  it('gives the same jobs, honor_labels and metric relabelings as prometheus.yml', () => {
    const { scrape_configs: jobs } = parse(read('prometheus/prometheus.yml')) as {
      readonly scrape_configs: readonly [target: Job, exporter: Job];
    };
    const expected = jobs.map(({ job_name, honor_labels, metric_relabel_configs: relabelings }) => [
      job_name,
      honor_labels,
      relabelings?.map(({ regex, action }) => [regex, action]),
    ]);
    const found = [target, exporter].map((each) => [
      labelOf(each, 'job'),
      each.honorLabels,
      each.metricRelabelings?.map(({ regex, action }) => [regex, action]),
    ]);
    expect(found).to.deep.equal(expected);
    expect(exporter.path).to.equal('/-/metrics');
  });

  it('labels the target of the DaemonSet with its app and server key', () => {
    const serverKey = labelOf(target, 'server_key');
    expect(daemonset).to.include(
      `app = "${labelOf(target, 'app')}"\n    server_key = "${serverKey}"\n`,
    );
    expect(target.params?.server_key).to.deep.equal([serverKey]);
  });
});
