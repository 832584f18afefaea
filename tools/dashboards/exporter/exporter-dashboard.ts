// The dashboard of the exporter itself, from /-/metrics; written by hand, since its metrics are in no catalogue.
import { dashboard } from '../dashboard.js';
import type { Dashboard, Section } from '../dashboard.js';
import { layOut } from '../layout.js';
import { bridge } from './bridge.js';
import { health } from './health.js';
import { losses } from './losses.js';
import { partitions } from './partitions.js';
import { resources } from './resources.js';
import { scrapes } from './scrapes.js';
import { OWN } from './series.js';
import { targets } from './targets.js';

const SECTIONS: readonly Section[] = [
  { title: 'Health', drawings: health },
  { title: 'Targets', drawings: targets },
  { title: 'Scrapes', drawings: scrapes },
  { title: 'Losses', drawings: losses },
  { title: 'Process', drawings: resources },
  { title: 'Partitions and highlighted variables', isCollapsed: true, drawings: partitions },
  { title: 'Bridge', isCollapsed: true, drawings: bridge },
];

export const exporterDashboard = (): Dashboard =>
  dashboard(
    {
      uid: 'shm-exporter',
      title: 'shm_exporter',
      description:
        'The exporter and the state of its targets. Docs: docs/outputs.md and docs/alerts.md.',
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
