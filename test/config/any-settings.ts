// Generates arbitrary valid settings.
import fc from 'fast-check';
import type { Settings } from '#app/config/settings.js';
import { anyCharacter } from '../support/any-character.js';

/** Any character but a control character. */
const printable = anyCharacter.filter((character) => !/\p{Cc}/u.test(character));
const line = fc.string({ unit: printable, maxLength: 40 });
const words = fc.array(fc.string({ unit: printable, minLength: 1, maxLength: 40 }), {
  maxLength: 5,
});
const name = fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$/);

export const settings: fc.Arbitrary<Settings> = fc.record({
  contextId: name,
  poolName: name,
  stalledAfterSeconds: fc.nat(31_536_000),
  trustedOwners: fc.uniqueArray(fc.nat(), { maxLength: 5 }),
  segmentMaxItems: fc.integer({ min: 1, max: 2 ** 21 }),
  app: fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,63}$/),
  format: name,
  formatSettings: fc.constant({}),
  instance: line,
  variable: line,
  classes: words,
  seedPathGroups: words,
  seedPaths: words,
  showUncatalogued: fc.boolean(),
  pathLabels: words,
  publisherTimeZone: fc.constantFrom('', 'UTC', 'Europe/London'),
  serverKeys: fc.uniqueArray(name, { minLength: 1, maxLength: 5 }),
  metricsIntervalSeconds: fc.integer({ min: 1, max: 2_147_483 }),
  renderMinIntervalMs: fc.nat(),
  targetMaxObjects: fc.integer({ min: 1, max: 1_000_000 }),
  targetMaxVariables: fc.integer({ min: 1, max: 2_000_000 }),
  targetMaxSeries: fc.integer({ min: 1, max: 2_000_000 }),
  targetMaxTextBytes: fc.integer({ min: 1024, max: 2 ** 29 }),
  targetWorkers: fc.nat(64),
  workerExecutionMode: fc.constantFrom('logical', 'threaded'),
  workerAssignmentMode: fc.constantFrom('hash', 'least_loaded'),
  workerRebalanceEnabled: fc.boolean(),
  debug: fc.boolean(),
  logLevel: fc.constantFrom('debug', 'info', 'warning', 'error'),
  logFormat: fc.constantFrom('text', 'logfmt', 'json'),
  metricsHttpEnabled: fc.boolean(),
  metricsBindAddress: fc.ipV4(),
  metricsPort: fc.nat(65_535),
  metricsListenAddresses: fc.uniqueArray(
    fc
      .tuple(fc.constantFrom('', '127.0.0.1', '[::1]', 'h.example'), fc.nat(65_535))
      .map(([host, port]) => `${host}:${port}`),
    { maxLength: 5 },
  ),
  metricsSystemdSocket: fc.boolean(),
  webConfigFile: line,
  metricsPath: fc.stringMatching(/^(\/[a-z0-9_~]{1,20}){1,5}$/),
  httpResponseTimeoutSeconds: fc.integer({ min: 1, max: 2_147_483 }),
  httpHeaderTimeoutSeconds: fc.integer({ min: 1, max: 3600 }),
  httpMaxHeaderBytes: fc.integer({ min: 1024, max: 1_048_576 }),
  httpMaxConnections: fc.integer({ min: 1, max: 65_535 }),
  httpMaxScrapes: fc.integer({ min: 1, max: 65_535 }),
  httpReloadEnabled: fc.boolean(),
  httpTreeEnabled: fc.boolean(),
  licenseFile: line,
  licenseKeysDir: line,
  catalogueFiles: words,
  stdoutFormat: fc.constantFrom('text', 'json', 'merged'),
  textfileDir: line,
});
