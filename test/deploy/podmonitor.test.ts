// Tests that the PodMonitor for the Prometheus Operator has the jobs and labels that rules and dashboards select.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';

interface Relabeling {
  readonly targetLabel?: string;
  readonly sourceLabels?: readonly string[];
  readonly replacement?: string;
  readonly regex?: string;
  readonly action?: string;
}
interface Endpoint {
  readonly port: string;
  readonly path: string;
  readonly honorLabels: boolean;
  readonly relabelings: readonly Relabeling[];
}
interface PodMonitor {
  readonly spec: {
    readonly selector: object;
    readonly sampleLimit: number;
    readonly podMetricsEndpoints: readonly Endpoint[];
  };
}
interface Job {
  readonly job_name: string;
  readonly metrics_path: string;
  readonly honor_labels: boolean;
  readonly sample_limit: number;
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
  const daemonset = read('container/daemonset.yaml');
  const documents = parseAllDocuments(daemonset).map((each) => each.toJS() as DaemonSet);
  const set = documents.find(({ kind }) => kind === 'DaemonSet');
  const { scrape_configs: jobs } = parse(read('fleet/prometheus.yml')) as {
    readonly scrape_configs: readonly Job[];
  };

  it('selects the pods of the DaemonSet and their port', () => {
    expect(spec.selector).to.deep.equal(set?.spec.selector);
    const [container] = set?.spec.template.spec.containers ?? [];
    for (const { port } of spec.podMetricsEndpoints)
      expect(port).to.equal(container?.ports[0].name);
  });

  it('has the same jobs, honor_labels and limit as deploy/fleet/prometheus.yml', () => {
    const found = spec.podMetricsEndpoints.map(({ path, honorLabels, relabelings }) => {
      const job = relabelings.find(({ targetLabel }) => targetLabel === 'job');
      return [job?.replacement, path, honorLabels];
    });
    expect(found).to.deep.equal(
      jobs.map(({ job_name, metrics_path, honor_labels }) => [
        job_name,
        metrics_path,
        honor_labels,
      ]),
    );
    expect(spec.sampleLimit).to.equal(jobs[0]?.sample_limit);
  });

  it('names each exporter by its node, so that a new pod continues the series', () => {
    for (const { relabelings } of spec.podMetricsEndpoints) {
      expect(relabelings).to.deep.include({
        sourceLabels: ['__meta_kubernetes_pod_node_name'],
        targetLabel: 'instance',
      });
      expect(relabelings).to.deep.include({ action: 'labeldrop', regex: 'pod' });
    }
  });
});
