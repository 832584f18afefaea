// Measures a scraper of many hosts: a Prometheus in agent mode and a vmagent, one after the other, scrape N pages of M
// series every 15 s and send them to VictoriaMetrics. Needs the programs of scripts/newer-programs.js.
// Usage: fleet-agents.js [hosts] [series per host] [seconds]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { cpuOf, memoryOf } from './usage.js';

const BIN = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'shm_exporter/programs/bin',
);
const WARM_MS = 60_000;
/** Different pages with the same series, which are served in turn. */
const PAGES = 3;
const [hosts = 100, series = 2000, seconds = 60] = process.argv.slice(2).map(Number);

/** A page of ten metrics, of whose values a tenth differs from the other pages. */
function page(version) {
  const lines = [];
  for (let family = 0; family < 10; family++) {
    lines.push(`# TYPE shop_events_${family}_total counter`);
    for (let at = 0; at < series / 10; at++) {
      const value = 1_000_000 + at * 97 + (at % 10 === version ? version : 0);
      const labels = `app="shop",server_key="t${at % 20}",root="host.${at % 20}.shop",object="floor-${at % 20}.till-${at}"`;
      lines.push(`shop_events_${family}_total{${labels}} ${value}`);
    }
  }
  return gzipSync(`${lines.join('\n')}\n`);
}

const pages = Array.from({ length: PAGES }, (_, version) => page(version));
let served = 0;
const server = createServer((_request, response) => {
  const headers = { 'content-type': 'text/plain; version=0.0.4', 'content-encoding': 'gzip' };
  response.writeHead(200, headers).end(pages[served++ % PAGES]);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const folder = mkdtempSync(join(tmpdir(), 'shm-agents-'));
const path = (name) => join(folder, name);
const groups = Array.from({ length: hosts }, (_, at) => ({
  targets: [`127.0.0.1:${port}`],
  labels: { instance: `host-${at}`, __metrics_path__: `/${at}` },
}));
const store = `http://127.0.0.1:${port + 1}`;
writeFileSync(path('hosts.json'), JSON.stringify(groups));
const job = { job_name: 'shm', honor_labels: true, file_sd_configs: [{ files: ['hosts.json'] }] };
const config = { global: { scrape_interval: '15s' }, scrape_configs: [job] };
writeFileSync(path('vmagent.yml'), JSON.stringify(config));
const remote_write = [{ url: `${store}/api/v1/write` }];
writeFileSync(path('agent.yml'), JSON.stringify({ ...config, remote_write }));
const AGENTS = {
  'prometheus --agent': [
    ...['prometheus', '--agent', `--config.file=${path('agent.yml')}`],
    ...[`--storage.agent.path=${path('wal')}`, `--web.listen-address=127.0.0.1:${port + 2}`],
  ],
  vmagent: [
    ...[
      'vmagent',
      `-promscrape.config=${path('vmagent.yml')}`,
      `-httpListenAddr=127.0.0.1:${port + 2}`,
    ],
    ...[`-remoteWrite.url=${store}/api/v1/write`, `-remoteWrite.tmpDataPath=${path('queue')}`],
  ],
};

const start = ([program, ...words]) => spawn(join(BIN, program), words, { stdio: 'ignore' });
const stop = async (child) => {
  child.kill('SIGTERM');
  await once(child, 'exit');
};

try {
  for (const [name, words] of Object.entries(AGENTS)) {
    const data = ['-storageDataPath', '-httpListenAddr'];
    const values = [path(`store-${words[0]}`), `127.0.0.1:${port + 1}`];
    const receiver = start([
      'victoria-metrics',
      ...data.map((flag, at) => `${flag}=${values[at]}`),
    ]);
    const agent = start(words);
    await sleep(WARM_MS);
    const before = [cpuOf(agent.pid), cpuOf(receiver.pid), served];
    await sleep(seconds * 1000);
    const samples = (served - before[2]) * series;
    const per = (cpu) => Math.round((cpu / samples) * 1e9) / 1000;
    console.log(
      JSON.stringify({
        ...{ name, series: hosts * series, samplesPerSecond: Math.round(samples / seconds) },
        microsecondsPerSample: per(cpuOf(agent.pid) - before[0]),
        residentMB: Math.round(memoryOf(agent.pid).own),
        storeMicrosecondsPerSample: per(cpuOf(receiver.pid) - before[1]),
        storeResidentMB: Math.round(memoryOf(receiver.pid).own),
      }),
    );
    await stop(agent);
    await stop(receiver);
  }
} finally {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
