// Tests the warning about settings that changed in a reload but take effect only at the next start.
import { expect } from 'chai';
import { changedSettings } from '#app/config/settings.js';
import { checked } from '#app/rules/problems.js';
import { CONFIG_FILE } from '#app/config/file-rule.js';
import { loadConfig } from '#app/config/resolve.js';
import { parseToml } from '#app/document/toml-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const settings = (toml: string) => checked(parseToml('c.toml', toml), CONFIG_FILE);
const DEFAULTS = settings('');

/** For each key, a value other than its default, and whether a reload applies it. */
const OTHER: Readonly<Record<string, readonly [value: string, isReloaded: boolean]>> = {
  context_id: ['"x"', false],
  pool_name: ['"x"', false],
  stalled_after_seconds: ['1', false],
  trusted_owners: ['[1000]', false],
  segment_max_items: ['1', false],
  app: ['"adh"', true],
  format: ['"toy"', true],
  format_settings: ['{ a = 1 }', true],
  instance: ['"1"', true],
  variable: ['"v"', true],
  classes: ['["c"]', true],
  seed_path_groups: ['["g"]', true],
  seed_paths: ['["p"]', true],
  show_uncatalogued: ['true', true],
  path_labels: ['["{l}"]', true],
  publisher_time_zone: ['"Asia/Tokyo"', true],
  server_keys: ['["1"]', true],
  metrics_interval_seconds: ['11', false],
  render_min_interval_ms: ['1', true],
  target_max_objects: ['1', true],
  target_max_variables: ['1', true],
  target_max_series: ['1', true],
  target_max_text_bytes: ['1024', true],
  target_workers: ['1', false],
  worker_execution_mode: ['"threaded"', false],
  worker_assignment_mode: ['"least_loaded"', false],
  worker_rebalance_enabled: ['true', false],
  debug: ['true', false],
  log_level: ['"warning"', false],
  log_format: ['"json"', false],
  metrics_http_enabled: ['true', false],
  metrics_bind_address: ['"127.0.0.1"', false],
  metrics_port: ['1', false],
  metrics_listen_addresses: ['[":1"]', false],
  metrics_systemd_socket: ['true', false],
  internal_metrics: ['"basic"', false],
  pages_without_internal_metrics: ['true', false],
  openmetrics_created_lines: ['true', false],
  web_config_file: ['"w.yml"', false],
  metrics_path: ['"/m"', false],
  http_response_timeout_seconds: ['1', false],
  http_header_timeout_seconds: ['1', false],
  http_max_header_bytes: ['2048', false],
  http_max_connections: ['1', false],
  http_max_scrapes: ['1', false],
  http_reload_enabled: ['true', false],
  http_tree_enabled: ['false', false],
  license_file: ['"l.json"', false],
  license_keys_dir: ['"keys"', false],
  catalogue_files: ['["c.toml"]', true],
  stdout_format: ['"json"', false],
  textfile_dir: ['"d"', false],
};

describe('changedSettings', () => {
  for (const [key, [value, isReloaded]] of Object.entries(OTHER)) {
    it(`${isReloaded ? 'omits' : 'lists'} \`${key}\`, which ${isReloaded ? 'a reload applies' : 'needs a restart'}`, () => {
      const changed = settings(`${key} = ${value}`);
      expect(changed, 'another value').not.to.deep.equal(DEFAULTS);
      const wanted = isReloaded ? [] : [key];
      expect(changedSettings(DEFAULTS, changed)).to.deep.equal(wanted);
      expect(changedSettings(changed, DEFAULTS)).to.deep.equal(wanted);
    });
  }

  it('lists no settings if no setting changed', () =>
    expect(changedSettings(DEFAULTS, settings(''))).to.deep.equal([]));

  it('lists several settings in the order of the reference page', () =>
    expect(changedSettings(DEFAULTS, settings('debug = true\npool_name = "x"'))).to.deep.equal([
      'pool_name',
      'debug',
    ]));
});

describe('two loads of one file', () => {
  const folder = temporaryFolder();
  const objectsIn = (value: unknown): readonly object[] =>
    typeof value === 'object' && value !== null
      ? [value, ...Object.values(value).flatMap(objectsIn)]
      : [];

  it('are equal and share no mutable state', () => {
    const configFile = folder.write(
      'c.toml',
      'seed_paths = ["a"]\ncatalogue_files = ["x.toml"]\n[[metric_scopes]]\nname = "a"\nmetrics = ["x"]\n' +
        '[[targets]]\napp = "ads"\nserver_key = "1"\nclasses = ["server"]\n',
    );
    const load = () => loadConfig({ configFile, overrides: {} });
    const before = load();
    const place = before.at(['targets', 0, 'classes', 0]);
    folder.write('c.toml', 'debug = true');
    expect(load().targets).to.have.lengthOf(1);
    folder.write('c.toml', '');
    expect(before.at(['targets', 0, 'classes', 0]), 'places of the first load').to.equal(place);
    const after = load();
    expect(after).not.to.equal(before);
    for (const object of [...objectsIn(before), ...objectsIn(after)])
      expect(Object.isFrozen(object), JSON.stringify(object)).to.equal(true);
  });

  it('return the old and the changed content if the file changes between them', () => {
    const configFile = folder.write('c.toml', 'metrics_port = 1');
    const load = () => loadConfig({ configFile, overrides: { debug: true } }).settings;
    const before = load();
    folder.write('c.toml', 'metrics_port = 2');
    expect(changedSettings(before, load())).to.deep.equal(['metrics_port']);
    expect(before.metricsPort).to.equal(1);
  });
});
