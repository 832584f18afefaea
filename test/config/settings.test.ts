// Compares the table of top-level keys with section 2.1 of the specification.
import { expect } from 'chai';
import { keyOf } from '#app/rules/table.js';
import { checked } from '#app/rules/problems.js';
import { CONFIG_FILE } from '#app/config/file-rule.js';
import { SETTINGS } from '#app/config/settings.js';
import { parseToml } from '#app/document/toml-file.js';
import { faultMessage } from '../support/fault-message.js';

const load = (text: string) => checked(parseToml('c.toml', text), CONFIG_FILE);

describe('the configuration', () => {
  const defaults = [
    ['contextId', 'context_id', 'shmApp'],
    ['poolName', 'pool_name', 'pool'],
    ['stalledAfterSeconds', 'stalled_after_seconds', 60],
    ['trustedOwners', 'trusted_owners', []],
    ['segmentMaxItems', 'segment_max_items', 2_097_152],
    ['app', 'app', 'ads'],
    ['format', 'format', 'native'],
    ['formatSettings', 'format_settings', {}],
    ['instance', 'instance', ''],
    ['variable', 'variable', ''],
    ['classes', 'classes', []],
    ['seedPathGroups', 'seed_path_groups', []],
    ['seedPaths', 'seed_paths', []],
    ['showUncatalogued', 'show_uncatalogued', false],
    ['pathLabels', 'path_labels', []],
    ['publisherTimeZone', 'publisher_time_zone', ''],
    ['serverKeys', 'server_keys', ['82', '456', '999']],
    ['metricsIntervalSeconds', 'metrics_interval_seconds', 10],
    ['renderMinIntervalMs', 'render_min_interval_ms', 250],
    ['targetMaxObjects', 'target_max_objects', 1_000_000],
    ['targetMaxVariables', 'target_max_variables', 2_000_000],
    ['targetMaxSeries', 'target_max_series', 2_000_000],
    ['targetMaxTextBytes', 'target_max_text_bytes', 536_870_912],
    ['targetWorkers', 'target_workers', 0],
    ['workerExecutionMode', 'worker_execution_mode', 'logical'],
    ['workerAssignmentMode', 'worker_assignment_mode', 'hash'],
    ['workerRebalanceEnabled', 'worker_rebalance_enabled', false],
    ['debug', 'debug', false],
    ['logLevel', 'log_level', 'info'],
    ['logFormat', 'log_format', 'text'],
    ['metricsHttpEnabled', 'metrics_http_enabled', false],
    ['metricsBindAddress', 'metrics_bind_address', '0.0.0.0'],
    ['metricsPort', 'metrics_port', 9464],
    ['metricsListenAddresses', 'metrics_listen_addresses', []],
    ['metricsSystemdSocket', 'metrics_systemd_socket', false],
    ['internalMetrics', 'internal_metrics', 'full'],
    ['pagesWithoutInternalMetrics', 'pages_without_internal_metrics', false],
    ['openmetricsCreatedLines', 'openmetrics_created_lines', false],
    ['webConfigFile', 'web_config_file', ''],
    ['metricsPath', 'metrics_path', '/metrics'],
    ['httpResponseTimeoutSeconds', 'http_response_timeout_seconds', 120],
    ['httpHeaderTimeoutSeconds', 'http_header_timeout_seconds', 10],
    ['httpMaxHeaderBytes', 'http_max_header_bytes', 16_384],
    ['httpMaxConnections', 'http_max_connections', 512],
    ['httpMaxScrapes', 'http_max_scrapes', 64],
    ['httpReloadEnabled', 'http_reload_enabled', false],
    ['httpTreeEnabled', 'http_tree_enabled', true],
    ['licenseFile', 'license_file', ''],
    ['licenseKeysDir', 'license_keys_dir', '/etc/shm_exporter/keys'],
    ['catalogueFiles', 'catalogue_files', []],
    ['stdoutFormat', 'stdout_format', 'text'],
    ['textfileDir', 'textfile_dir', ''],
  ] as const;

  for (const [name, key, value] of defaults)
    it(`has ${key} = ${JSON.stringify(value)} by default (spec 2.1)`, () => {
      expect(keyOf(name)).to.equal(key);
      expect(SETTINGS).to.have.property(name);
      expect(load('')[name]).to.deep.equal(value);
    });

  const takes = [
    ['context_id', '"a.B-9_"'],
    ['stalled_after_seconds', '0'],
    ['stalled_after_seconds', '31536000'],
    ['trusted_owners', '[]'],
    ['trusted_owners', '[0, 1000, 4294967294]'],
    ['app', '"my_app2"'],
    ['format', '"varnish"'],
    ['format_settings', '{ users = ["a"], rescan = 1 }'],
    ['instance', '"lseg1.bgp59.com.1.adh"'],
    ['variable', '"# managed objs"'],
    ['classes', '["process", "server"]'],
    ['seed_paths', '["@root", "sink.*.ripc"]'],
    ['show_uncatalogued', 'true'],
    ['path_labels', '["floor.{floor}.{till~till[0-9]+}", "{area}"]'],
    ['publisher_time_zone', '""'],
    ['publisher_time_zone', '"UTC"'],
    ['publisher_time_zone', '"America/Argentina/Buenos_Aires"'],
    ['publisher_time_zone', '"Asia/Kolkata"'],
    ['server_keys', '["82"]'],
    ['metrics_interval_seconds', '1'],
    ['metrics_interval_seconds', '2147483'],
    ['render_min_interval_ms', '0'],
    ['target_workers', '64'],
    ['worker_execution_mode', '"threaded"'],
    ['worker_assignment_mode', '"least_loaded"'],
    ['debug', 'true'],
    ['metrics_bind_address', '"127.0.0.1"'],
    ['metrics_port', '0'],
    ['metrics_port', '0xFFFF'],
    ['http_max_header_bytes', '1024'],
    ['http_max_header_bytes', '1048576'],
    ['metrics_path', '"/a/b-c/.well_known~"'],
    ['metrics_path', '"/-a"'],
    ['stdout_format', '"json"'],
  ] as const;
  for (const [key, value] of takes)
    it(`accepts ${key} = ${value}`, () => expect(() => load(`${key} = ${value}`)).not.to.throw());

  const refuses = [
    ['context_id', '""'],
    ['context_id', '".hidden"'],
    ['stalled_after_seconds', '-1'],
    ['stalled_after_seconds', '0.5'],
    ['stalled_after_seconds', '31536001'],
    ['segment_max_items', '0'],
    ['segment_max_items', '2097153'],
    ['target_max_objects', '0'],
    ['target_max_objects', '1000001'],
    ['target_max_variables', '2000001'],
    ['target_max_series', '0.5'],
    ['target_max_text_bytes', '1023'],
    ['trusted_owners', '["root"]'],
    ['trusted_owners', '[-1]'],
    ['trusted_owners', '[1000, 1000]'],
    ['pool_name', '"a/b"'],
    ['pool_name', `"${'x'.repeat(65)}"`],
    ['app', '"9lives"'],
    ['app', '"a-b"'],
    ['instance', '"two\\nlines"'],
    ['variable', '7'],
    ['classes', '"process"'],
    ['classes', '[""]'],
    ['seed_path_groups', '[1]'],
    ['show_uncatalogued', '"true"'],
    ['path_labels', '"{area}"'],
    ['path_labels', '[""]'],
    ['publisher_time_zone', '"+01:00"'],
    ['publisher_time_zone', '"Mars/Olympus"'],
    ['publisher_time_zone', '1'],
    ['server_keys', '[]'],
    ['server_keys', '["82", "82"]'],
    ['server_keys', '[82]'],
    ['metrics_interval_seconds', '0'],
    ['metrics_interval_seconds', '10.0'],
    ['render_min_interval_ms', '-1'],
    ['target_workers', '65'],
    ['target_workers', '-1'],
    ['worker_execution_mode', '"Threaded"'],
    ['worker_assignment_mode', '"random"'],
    ['worker_rebalance_enabled', '"true"'],
    ['debug', '1'],
    ['metrics_http_enabled', '{}'],
    ['metrics_bind_address', '"::1"'],
    ['metrics_bind_address', '"localhost"'],
    ['metrics_port', '65536'],
    ['metrics_port', '9464.0'],
    ['http_max_header_bytes', '1023'],
    ['http_max_header_bytes', '1048577'],
    ['metrics_path', '"metrics"'],
    ['metrics_path', '"/"'],
    ['metrics_path', '"/metrics/"'],
    ['metrics_path', '"/a/../b"'],
    ['metrics_path', '"/-"'],
    ['metrics_path', '"/-/ready"'],
    ['metrics_path', '"/a?b"'],
    ['license_file', 'false'],
    ['license_keys_dir', '1'],
    ['license_keys_dir', '"a\\nb"'],
    ['catalogue_files', '[""]'],
    ['stdout_format', '"yaml"'],
  ] as const;
  for (const [key, value] of refuses)
    it(`rejects ${key} = ${value.length > 60 ? 'a name of 65 characters' : value}`, () =>
      expect(faultMessage('CONFIG_INVALID', () => load(`${key} = ${value}`))).to.match(
        new RegExp(`^c\\.toml:1:\\d+: ${key}`),
      ));

  const zones = [
    ['Europe/Berln', ' (did you mean "Europe/Berlin"?)'],
    ['europe/londn', ' (did you mean "Europe/London"?)'],
    ['UTCC', ' (did you mean "UTC"?)'],
    ['Mars/Olympus', ''],
  ] as const;
  for (const [zone, near] of zones)
    for (const [head, path] of [
      ['', ''],
      ['[[targets]]\napp = "ads"\nserver_key = "1"\n', 'targets[0].'],
    ] as const)
      it(`rejects ${path}publisher_time_zone = ${zone}${near}`, () =>
        expect(
          faultMessage('CONFIG_INVALID', () => load(`${head}publisher_time_zone = "${zone}"`)),
        ).to.equal(
          `c.toml:${head.split('\n').length}:23: ${path}publisher_time_zone: found "${zone}"${near}, allowed: ` +
            `the IANA name of a time zone such as "Europe/London", or ""`,
        ));
});
