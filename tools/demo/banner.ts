// The text that the demo prints when everything is ready.
import { BRIDGED, BRIDGE_APP, JVMS, SHOP, TARGETS } from './configuration.js';

const [{ serverKey: ADS, variable }, { serverKey: ADH }, { app, root, serverKey: ATS }] = TARGETS;

/** Commands to try. Every URL in these commands answers with status 200. */
export function bannerLines(port: number): readonly string[] {
  const base = `http://127.0.0.1:${port}`;
  const tries: readonly (readonly [string, string])[] = [
    [`curl '${base}/metrics?server_key=${ADS}'`, 'all metrics of the ads'],
    [`curl '${base}/metrics?server_key=${ADH}'`, 'of the adh'],
    [`curl '${base}/metrics?app=${app}&instance=${root}'`, 'of the ats, by its root'],
    [
      `curl '${base}/metrics?server_key=${BRIDGED.serverKey}&app=${BRIDGED.app}'`,
      'of another ads, which shows its objects over HTTP only: shm_bridge publishes them',
    ],
    [`curl '${base}/metrics?server_key=${BRIDGED.serverKey}&app=${BRIDGE_APP}'`, 'of that bridge'],
    [
      `curl '${base}/metrics?server_key=${JVMS.serverKey}'`,
      'of the JVMs of this host, and of a recorded JVM',
    ],
    [
      `curl '${base}/metrics?server_key=${SHOP.serverKey}'`,
      'of the workers of a shop in Python, or of recorded workers without Gunicorn',
    ],
    [`curl '${base}/metrics/overview?server_key=${ADS}'`, 'a scope: what to look at first'],
    [`curl '${base}/metrics/clients?server_key=${ATS}'`, 'a scope: clients, which come and go'],
    [`curl '${base}/metrics/latency?server_key=${ADH}'`, 'a scope: histograms and summaries'],
    [`curl '${base}/metrics/exporter?server_key=${ADS}'`, `internal metrics, and ${variable}`],
    [
      `curl -H 'Accept: application/openmetrics-text' '${base}/metrics?server_key=${ATS}'`,
      'as OpenMetrics',
    ],
    [`curl '${base}/-/metrics'`, 'the exporter itself, and the state of all targets'],
    [`curl '${base}/-/ready'`, 'whether all targets are ready'],
    [`${base}/`, 'a status page for people'],
  ];
  return [
    '',
    'The exporter serves JVMs, workers of Gunicorn and four simulated servers with changing clients. One of the servers has a bridge. Try:',
    '',
    ...tries.flatMap(([command, what]) => [`  # ${what}`, `  ${command}`]),
    '',
    'Ctrl-C ends the demo and leaves nothing behind.',
  ];
}
