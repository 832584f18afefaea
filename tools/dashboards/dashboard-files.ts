// The dashboard files for Grafana: one for each built-in application, one for workers with metric files, one for Varnish, and one for the exporter.
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { appDashboard } from './app-dashboard.js';
import { APP_LAYOUTS } from './app-layouts.js';
import { dashboard, layOut } from './dashboard.js';
import type { Dashboard, Section } from './dashboard.js';
import { bridge, health, losses, workerProcesses } from './exporter/health.js';
import { multiprocessDashboard } from './multiprocess-dashboard.js';
import { varnishDashboard } from './varnish-dashboard.js';
import { OWN, partitions, resources, scrapes, targets } from './exporter/load.js';

/** The sections of the exporter's own dashboard. Its metrics come from /-/metrics. No catalogue has them. */
const SECTIONS: readonly Section[] = [
  { title: 'Health', drawings: health },
  { title: 'Targets', drawings: targets },
  { title: 'Scrapes', drawings: scrapes },
  { title: 'Losses', drawings: losses },
  { title: 'Process', drawings: resources },
  { title: 'Partitions and highlighted variables', isCollapsed: true, drawings: partitions },
  { title: 'Worker processes', isCollapsed: true, drawings: workerProcesses },
  { title: 'Bridge', isCollapsed: true, drawings: bridge },
];

const exporterDashboard = (): Dashboard =>
  dashboard(
    {
      uid: 'shm-exporter',
      title: 'shm_exporter',
      description:
        'The exporter and the state of its targets. Docs: docs/internal-metrics.md and docs/alerts.md.',
      variables: [
        { name: 'job', label: 'Job', query: 'label_values(shm_exporter_build_info, job)' },
        {
          name: 'instance',
          label: 'Exporter',
          query: 'label_values(shm_exporter_build_info{job=~"$job"}, instance)',
        },
        {
          name: 'app',
          label: 'Application',
          query: `label_values(shm_exporter_internal_target_ready{${OWN}}, app)`,
        },
        {
          name: 'server_key',
          label: 'Server key',
          query: `label_values(shm_exporter_internal_target_ready{${OWN},app=~"$app"}, server_key)`,
        },
      ],
    },
    layOut(SECTIONS),
  );

/** The text of each dashboard, by file name. */
export function dashboardTexts(): ReadonlyMap<string, string> {
  const catalogues = loadCatalogues();
  const ofApps = Object.entries(APP_LAYOUTS).flatMap(([app, layout]) => {
    const catalogue = catalogues.get(app);
    return catalogue === undefined
      ? []
      : [[`${app}.json`, appDashboard(catalogue, layout)] as const];
  });
  const all = [
    ...ofApps,
    ['multiprocess.json', multiprocessDashboard()] as const,
    ['varnish.json', varnishDashboard()] as const,
    ['shm_exporter.json', exporterDashboard()] as const,
  ];
  return new Map(all.map(([name, made]) => [name, `${JSON.stringify(made, null, 2)}\n`]));
}
