// A real Prometheus 3 and a real vmagent find two exporters through the API of Kubernetes, with the jobs of
// deploy/fleet/kubernetes.yml. A small server takes the place of the API.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../support/free-port.js';
import { needsNewer, newer } from '../support/newer-programs.js';
import { testPrograms, waitFor } from '../support/processes.js';
import type { Labels } from '../end-to-end/page.js';

const SELECTOR = 'app.kubernetes.io/name=shm-exporter';
const NODES = ['node-1', 'node-2'] as const;
const EXPECTED = ['shm node-1', 'shm node-2', 'shm_exporter node-1', 'shm_exporter node-2'];

/** The pod of the DaemonSet on a node. A second container has a port that nobody may scrape. */
const podOn = (node: string, port: number) => ({
  metadata: {
    ...{ name: `shm-exporter-${node}`, namespace: 'metrics', uid: node, resourceVersion: '1' },
    labels: { 'app.kubernetes.io/name': 'shm-exporter' },
  },
  spec: {
    nodeName: node,
    containers: [
      { name: 'shm-exporter', image: 'x', ports: [{ name: 'metrics', containerPort: port }] },
      { name: 'other', image: 'x', ports: [{ name: 'other', containerPort: 9 }] },
    ],
  },
  status: {
    ...{ phase: 'Running', podIP: '127.0.0.1', hostIP: '127.0.0.1' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
});

/** The part of the API that lists and watches pods. */
class KubernetesApi {
  readonly #server: Server;
  readonly #pods: readonly object[];
  /** The paths and selectors of the lists that clients asked for. */
  readonly lists: string[] = [];

  constructor(pods: readonly object[]) {
    this.#pods = pods;
    this.#server = createServer((request, response) => {
      this.#answer(request, response);
    });
  }

  #answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, 'http://api');
    response.setHeader('content-type', 'application/json');
    if (pathname !== '/api/v1/pods') {
      response.writeHead(404).end('{"kind":"Status","apiVersion":"v1","code":404}');
      return;
    }
    // A client that asks for the first list as events lists by itself after this answer.
    if (searchParams.has('sendInitialEvents')) {
      response
        .writeHead(422)
        .end('{"kind":"Status","apiVersion":"v1","code":422,"reason":"Invalid"}');
      return;
    }
    // A watch stays open, and nothing changes.
    if (searchParams.has('watch')) {
      response.writeHead(200).flushHeaders();
      return;
    }
    this.lists.push(searchParams.get('labelSelector') ?? '');
    const metadata = { resourceVersion: '1' };
    response.end(
      JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata, items: this.#pods }),
    );
  }

  listen(): Promise<string> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => {
        resolve(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
      });
    });
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

describe('deploy/fleet/kubernetes.yml', function () {
  this.slow(30_000);
  const programs = testPrograms();
  let api: KubernetesApi | undefined;
  let config = '';
  after(() => api?.close());

  before(async function () {
    needsNewer(this, 'prometheus', 'vmagent');
    const tree = (root: string) => ({
      objects: [{ id: root, class: 'Shop', variables: { x: { type: 'u64', value: 7 } } }],
    });
    const pods: object[] = [];
    for (const node of NODES) {
      programs.publish(tree(`${node}.1.shop`), '--server-key', 'shop', '--pool-name', node);
      const discover = '[discover]\nnative = ["*"]\n';
      const file = programs.config({ pool_name: node }, discover);
      const url = await programs.start('exporter', ['--config', file]).url();
      pods.push(podOn(node, Number(new URL(url).port)));
    }
    api = new KubernetesApi(pods);
    const address = await api.listen();
    const text = readFileSync('deploy/fleet/kubernetes.yml', 'utf8').replace(
      /^( *)- role: pod\n/m,
      `$&$1  api_server: ${address}\n`,
    );
    config = programs.write('kubernetes.yml', `global: { scrape_interval: 2s }\n${text}`);
  });

  const json = async (url: string): Promise<unknown> =>
    (await fetch(url).catch(() => undefined))?.json().catch(() => undefined);

  it('lets Prometheus scrape both jobs, and names each exporter by its node', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    programs.command([
      ...[newer('prometheus'), `--config.file=${config}`, `--web.listen-address=${address}`],
      `--storage.tsdb.path=${programs.path('tsdb')}`,
    ]);
    const found = async (query: string): Promise<readonly string[]> => {
      const url = `http://${address}/api/v1/query?${new URLSearchParams({ query }).toString()}`;
      const answer = (await json(url)) as
        { readonly data: { readonly result: readonly { readonly metric: Labels }[] } } | undefined;
      const series = answer?.data.result ?? [];
      return series.map(({ metric }) => `${metric['job']} ${metric['instance']}`).sort();
    };
    await waitFor('both jobs are up', async () =>
      (await found('up == 1')).join() === EXPECTED.join() ? true : undefined,
    );
    expect(await found('up')).to.deep.equal(EXPECTED);
    // As alerts and dashboards join the two jobs.
    await waitFor('the jobs have the same targets', async () =>
      (
        await found(
          'shm_exporter_internal_target_ready{job="shm_exporter"} == 1 and on (instance, app, server_key, hint) shm_target_up{job="shm"} == 1',
        )
      ).join() === EXPECTED.slice(2).join()
        ? true
        : undefined,
    );
    expect(api?.lists).to.include(SELECTOR);
  });

  it('lets vmagent scrape both jobs, and names each exporter by its node', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    programs.command([
      ...[newer('vmagent'), `-promscrape.config=${config}`, `-httpListenAddr=${address}`],
      ...['-remoteWrite.url=http://127.0.0.1:9/', '-remoteWrite.maxDiskUsagePerURL=500MB'],
      `-remoteWrite.tmpDataPath=${programs.path('queue')}`,
    ]);
    interface Answer {
      readonly data: {
        readonly activeTargets: readonly { readonly labels: Labels; readonly health: string }[];
      };
    }
    let last: readonly string[] = [];
    await waitFor('both jobs are up', async () => {
      const answer = (await json(`http://${address}/api/v1/targets`)) as Answer | undefined;
      const targets = answer?.data.activeTargets ?? [];
      last = targets
        .filter(({ health }) => health === 'up')
        .map(({ labels }) => `${labels['job']} ${labels['instance']}`)
        .sort();
      return last.length === EXPECTED.length ? true : undefined;
    });
    expect(last).to.deep.equal(EXPECTED);
  });
});
