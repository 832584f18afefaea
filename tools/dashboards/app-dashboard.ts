// The dashboard of an application: its health, the sections of its layout, then all metrics by class.
import { PUBLISHER_STATES } from '#app/model.js';
import type { Catalogue } from '#app/catalogue/catalogue.js';
import type { CatalogueClass } from '#app/catalogue/catalogue-class.js';
import type { AppLayout, Share } from './app-layouts.js';
import { dashboard, layOut } from './dashboard.js';
import type { Dashboard, Drawing, Section } from './dashboard.js';
import { labelTable, stat, stateTimeline, timeSeries } from './drawings.js';
import { SELECTOR, familyPanel, flagMappings, stateMappings, stateNumber } from './family-panel.js';
import type { ShownFamily } from './family-panel.js';

export function appDashboard(catalogue: Catalogue, layout: AppLayout): Dashboard {
  const { app } = catalogue;
  const families = new Map(
    catalogue.classes.flatMap((owner) =>
      shownFamilies(owner, layout).map((shown) => [shown.row.family.name, shown] as const),
    ),
  );
  return dashboard(
    factsOf(app, {
      title: `${layout.name} in shared memory`,
      description: `Generated from the catalogue of ${app}. Docs: docs/metrics.md and docs/alerts.md.`,
    }),
    layOut([
      { title: 'Health', drawings: health(app, families) },
      ...Object.entries(layout.first).map(([title, names]) => ({
        title,
        drawings: names.map((each) =>
          typeof each === 'string' ? familyPanel(find(families, each)) : sharePanel(each),
        ),
      })),
      ...Object.entries(layout.classes).map(([alias, title]) =>
        classSection(title, ofClass(catalogue, alias), layout),
      ),
    ]),
  );
}

/** Series with the job, the server key and the root of each target: of `up`, or of the host page. */
const TARGET_SERIES = '__name__=~"(up|shm_target_info)"';

/** The facts of a dashboard whose variables select targets of one application. */
export function factsOf(
  app: string,
  texts: { readonly title: string; readonly description: string },
) {
  const valuesOf = (label: string) => `label_values({${TARGET_SERIES},app="${app}"}, ${label})`;
  return {
    uid: `shm-${app}`,
    ...texts,
    variables: [
      { name: 'job', label: 'Job', query: valuesOf('job') },
      { name: 'server_key', label: 'Server key', query: valuesOf('server_key') },
      { name: 'root', label: 'Root', query: valuesOf('root') },
    ],
  };
}

const sharePanel = ({ title, description, expr, legend }: Share): Drawing =>
  timeSeries('percentunit', {
    title,
    description,
    queries: { [legend]: expr.replaceAll('$selector', SELECTOR) },
  });

/** The metrics of a class, each with its first row. */
const shownFamilies = (
  owner: CatalogueClass,
  { many, formatLabels = [] }: AppLayout,
): readonly ShownFamily[] =>
  owner.rows
    .filter((row, at) => owner.rows.findIndex(({ family }) => family === row.family) === at)
    .map((row) => ({ owner, row, isMany: many.includes(owner.alias), formatLabels }));

const classSection = (title: string, owner: CatalogueClass, layout: AppLayout): Section => ({
  title: `${title} (class ${owner.alias})`,
  isCollapsed: true,
  drawings: shownFamilies(owner, layout).map(familyPanel),
});

function find(families: ReadonlyMap<string, ShownFamily>, name: string): ShownFamily {
  const shown = families.get(name);
  if (shown === undefined) throw new RangeError(`No catalogue has ${name}, which a layout names`);
  return shown;
}

function ofClass({ app, classes }: Catalogue, alias: string): CatalogueClass {
  const owner = classes.find((each) => each.alias === alias);
  if (owner === undefined)
    throw new RangeError(`${app} has no class ${alias}, which its layout names`);
  return owner;
}

/**
 * The panels at the top: the readiness of the targets, and the state of the application and its process.
 * @param families the metrics of the catalogue, by name
 */
export function health(
  app: string,
  families: ReadonlyMap<string, ShownFamily>,
): readonly Drawing[] {
  const target = `app="${app}",server_key=~"$server_key"`;
  // The exporter's own metrics have no label `root`.
  const chosen = `and on (instance, app, server_key, hint, twin) {${TARGET_SERIES},job=~"$job",root=~"$root"}`;
  const ofTarget = '{{server_key}} {{hint}} {{instance}}';
  const publisher = `${stateNumber({
    metric: 'shm_exporter_publisher_state',
    label: 'state',
    states: PUBLISHER_STATES,
    selector: target,
    by: ['instance', 'app', 'server_key', 'hint', 'twin'],
  })} ${chosen}`;
  /** The panel of a metric of the process; none if the catalogue lacks the metric. */
  const process = (name: string, size: Partial<Drawing>): readonly Drawing[] => {
    const shown = families.get(`${app}_process_${name}`);
    return shown === undefined ? [] : [{ ...familyPanel(shown), ...size }];
  };
  const level = `${app}_process_health_level`;
  return [
    stat('none', {
      title: 'Metrics',
      description: 'Whether the exporter serves the metrics of this target.',
      queries: { [ofTarget]: `shm_exporter_internal_target_ready{${target}} ${chosen}` },
      mappings: flagMappings(['not ready', 'red'], ['ready', 'green']),
    }),
    stat('none', {
      title: 'Publisher',
      description: 'State of the publisher, as the exporter sees it.',
      queries: { [ofTarget]: publisher },
      mappings: stateMappings(PUBLISHER_STATES),
    }),
    ...process('start_time_seconds', { title: 'Started', size: { w: 4, h: 4 } }),
    ...(families.has(level)
      ? [
          stat('short', {
            title: 'Health level',
            description: 'Load or health level that the process reports.',
            queries: { '{{root}}': `${level}{${SELECTOR}}` },
          }),
        ]
      : []),
    labelTable(['alertstate', 'job', 'runbook_url'], {
      title: 'Alerts that fire',
      description:
        'Alerts of this application and of the exporter; docs/alerts.md says what to do about each.',
      queries: {
        '': `ALERTS{alertname=~"(Shm|Jvm|Varnish).+",alertstate="firing",app=~"(${app})?",server_key=~"$server_key|"}`,
      },
      w: 8,
      h: 4,
    }),
    stateTimeline(stateMappings(PUBLISHER_STATES), {
      title: 'Publisher over time',
      description: 'While the publisher is neither live nor stalled, the target has no metrics.',
      queries: { [ofTarget]: publisher },
      w: 8,
      h: 5,
    }),
    ...process('object_state', { title: 'State over time', size: { w: 8, h: 5 } }),
    ...process('info', { title: 'Version', size: { w: 8, h: 5 } }),
  ];
}
