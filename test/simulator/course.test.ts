import { expect } from 'chai';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { Random, RandomWalk, courseOf } from '#app/simulator/course.js';

/** Returns the simulated course of values for the variable that a built-in application's metric reads. */
function course(name: string, variable: string) {
  const catalogue = loadCatalogues().get(name.slice(0, 3));
  const rows = catalogue?.classes.flatMap((each) => each.rows) ?? [];
  for (const { family, inputs } of rows)
    for (const reading of inputs)
      if (family.name === name && reading.variable === variable) return courseOf(family, reading);
  throw new Error(`no row of ${name} reads ${variable}`);
}

describe('The course of a simulated value', () => {
  const shown = (expected: { kind: string; step?: number; value?: number; most?: number }) => {
    const { kind, step, value, most } = expected;
    if (kind === 'total') return `a total that rises by up to ${step} per change`;
    if (kind === 'mishaps') return 'a total that rarely rises';
    return kind === 'level' ? `a level from 0 to ${most}` : `the constant ${value}`;
  };
  const table = [
    ['ads_client_sent_bytes_total', 'compBytesSent', { kind: 'total', step: 60_000 }],
    ['ats_model_calculations_total', 'calculations', { kind: 'total', step: 200 }],
    ['adh_shm_server_heartbeat', 'heartbeat', { kind: 'total', step: 1 }],
    ['ats_model_errors_total', 'calculationErrors', { kind: 'mishaps' }],
    ['adh_source_channel_throttled_total', 'numThrottledOnMsgRate', { kind: 'mishaps' }],
    ['adh_source_channel_active', 'active', { kind: 'constant', value: 1 }],
    ['adh_failover_flow_stopped', 'xoff', { kind: 'constant', value: 0 }],
    ['ads_license_expired', 'licenseExpired', { kind: 'constant', value: 0 }],
    ['ads_license_expires_in_seconds', 'daysBeforeExpired', { kind: 'constant', value: 90 }],
    ['ats_server_num_clients', 'connectionsUsed', { kind: 'level', most: 40 }],
    ['ats_server_max_clients', 'maxConnections', { kind: 'constant', value: 100 }],
    ['ads_client_buffer_ratio', 'bufferPercentage', { kind: 'level', most: 100 }],
  ] as const;
  for (const [name, variable, expected] of table)
    it(`of ${name} is ${shown(expected)}`, () =>
      expect(course(name, variable)).to.deep.equal(expected));
});

describe('RandomWalk', () => {
  for (const [most, grain] of [
    [1, 1],
    [40, 1],
    [1, 0.001],
    [50_000_000, 1],
  ] as const)
    it(`covers most of the range from 0 to ${most} in multiples of ${grain}`, () => {
      const level = new RandomWalk(most, grain, new Random(5));
      const mostChange = Math.max(grain, most / 20) * 1.000001;
      let least: number = most;
      let highest = 0;
      for (let move = 0; move < 5000; move++) {
        const before = level.value;
        level.move();
        expect(level.value).to.be.within(0, most);
        expect(Math.abs(level.value - before)).to.be.within(grain * 0.999, mostChange);
        least = Math.min(least, level.value);
        highest = Math.max(highest, level.value);
      }
      expect(least).to.be.below(most / 4);
      expect(highest).to.be.above((most * 3) / 4);
    });
});
