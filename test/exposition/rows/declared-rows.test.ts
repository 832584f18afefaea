// Applications without a catalogue: series from the descriptions that the publisher gives.
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import fc from 'fast-check';
import { metricNamePart } from '#app/catalogue/names.js';
import { DeclaredRows } from '#app/exposition/rows/declared-rows.js';
import { FakeSource } from '../../support/fake-source.js';
import type { VariableOptions } from '../../support/fake-source.js';
import { shopCatalogue, testView } from '../test-view.js';
import { needsPrograms } from '../../support/needs.js';

/** A pump station with a variable of each type and with names as in real trees. */
function pumps() {
  const source = new FakeSource();
  const root = source.addObject('h.1.pumps', 'PumpStation');
  const pump = source.addObject('h.1.pumps.hall.7.', 'Pump-Type.A', { parent: root });
  source.addVariable(root, 'bytesSent.14002', {
    type: 'u64',
    kind: 'counter',
    unit: 'bytes',
    help: 'Bytes\nsent.',
    value: 2n ** 64n - 1n,
  });
  source.addVariable(root, '# managed objs', { type: 'i64', kind: 'gauge', value: -3 });
  source.addVariable(pump, '32PingInterval', { type: 'f64', value: 0.5 });
  source.addVariable(pump, 'isOn', { type: 'bool', value: true });
  source.addVariable(pump, 'serial number', { type: 'string', value: 'A "1"' });
  source.addVariable(pump, 'head', {
    type: 'histogram',
    schema: [1],
    value: { type: 'histogram', counts: BigUint64Array.of(1n, 2n), sum: 9 },
  });
  source.addVariable(pump, 'flow', {
    type: 'summary',
    schema: [0.5],
    value: { type: 'summary', count: 2n, sum: 3, values: Float64Array.of(1.5) },
  });
  source.addVariable(pump, 'late', { type: 'u64' });
  return { source, root, pump };
}

describe('an application without a catalogue', () => {
  const names = [
    ['bytesSent.14002', 'bytes_sent_14002'],
    ['# managed objs', 'managed_objs'],
    ['32PingInterval', '32_ping_interval'],
    ['__a--b..c__', 'a_b_c'],
    ['RTSDKVersion', 'rtsdkversion'],
    ['größe', 'gr_uf6udf_e'],
    ['#', ''],
  ] as const;
  for (const [text, part] of names)
    it(`turns ${JSON.stringify(text)} into ${JSON.stringify(part)} in a metric name`, () =>
      expect(metricNamePart(text)).to.equal(part));

  const units = [
    ['balance', 'cents', 'Money', 'shop_till_balance', 'Money. Unit: cents.'],
    ['latency', 'ms', 'Time to pay.', 'shop_till_latency', 'Time to pay. Unit: ms.'],
    ['load', '%', '', 'shop_till_load', 'Variable load of objects of class Till. Unit: %.'],
    ['speed', 'km/h', 'Speed?', 'shop_till_speed', 'Speed? Unit: km/h.'],
    ['wait', 'µs', 'Wait.', 'shop_till_wait', 'Wait. Unit: µs.'],
    ['wait', ' ', 'Wait.', 'shop_till_wait', 'Wait.'],
    ['delay_ms', 'ms', 'Wait.', 'shop_till_delay_ms', 'Wait.'],
    ['delay', 'seconds', 'Wait.', 'shop_till_delay_seconds', 'Wait.'],
  ] as const;
  for (const [name, unit, published, metric, help] of units)
    it(`names the unit ${JSON.stringify(unit)} of ${metric} once`, () => {
      const source = new FakeSource();
      const root = source.addObject('h.1.shop', 'Till');
      source.addVariable(root, name, {
        type: 'f64',
        kind: 'gauge',
        unit,
        help: published,
        value: 1,
      });
      expect(testView(source, root, { app: 'shop' }).text().split('\n')[0]).to.equal(
        `# HELP ${metric} ${help}`,
      );
    });

  it('names every unit in the name of the metric or in its help', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 });
    const unit = fc.oneof(
      text,
      fc.constantFrom('ms', '%', 'B/s', 'kelvin', 'seconds', 'till', 'm s'),
    );
    const type = fc.constantFrom('u64', 'f64', 'bool', 'string', 'histogram', 'summary');
    fc.assert(
      fc.property(unit, type, text, text, (unit, type, name, help) => {
        const source = new FakeSource();
        const root = source.addObject('h.1.shop', 'Till');
        const schema = type === 'summary' ? [0.5] : [1];
        const variable = source.addVariable(root, name, { type, unit, help, schema });
        const { family } = new DeclaredRows('shop').rowFor(variable);
        const inName = `_${family.name}_`.includes(`_${metricNamePart(unit)}_`);
        expect(
          inName || family.help.endsWith(` Unit: ${unit.trim()}.`) || unit.trim() === '',
        ).to.equal(true);
        if (help !== '') expect(family.help.startsWith(help)).to.equal(true);
      }),
    );
  });

  it('exposes each variable as a metric with the class in its name', () => {
    const { source, root } = pumps();
    const { text } = testView(source, root, { app: 'pumps' });
    const A = 'pumps_pump_type_a';
    const at = 'object="hall.7."';
    expect(text().split('\n')).to.deep.equal([
      '# HELP pumps_pump_station_bytes_sent_14002_total Bytes\\nsent.',
      '# TYPE pumps_pump_station_bytes_sent_14002_total counter',
      'pumps_pump_station_bytes_sent_14002_total{object="@root"} 18446744073709551615',
      '# HELP pumps_pump_station_managed_objs Variable # managed objs of objects of class PumpStation.',
      '# TYPE pumps_pump_station_managed_objs gauge',
      'pumps_pump_station_managed_objs{object="@root"} -3',
      `# HELP ${A}_32_ping_interval Variable 32PingInterval of objects of class Pump-Type.A.`,
      `# TYPE ${A}_32_ping_interval untyped`,
      `${A}_32_ping_interval{${at}} 0.5`,
      `# HELP ${A}_flow Variable flow of objects of class Pump-Type.A.`,
      `# TYPE ${A}_flow summary`,
      `${A}_flow{${at},quantile="0.5"} 1.5`,
      `${A}_flow_sum{${at}} 3`,
      `${A}_flow_count{${at}} 2`,
      `# HELP ${A}_head Variable head of objects of class Pump-Type.A.`,
      `# TYPE ${A}_head histogram`,
      `${A}_head_bucket{${at},le="1"} 1`,
      `${A}_head_bucket{${at},le="+Inf"} 3`,
      `${A}_head_sum{${at}} 9`,
      `${A}_head_count{${at}} 3`,
      `# HELP ${A}_is_on Variable isOn of objects of class Pump-Type.A.`,
      `# TYPE ${A}_is_on gauge`,
      `${A}_is_on{${at}} 1`,
      `# HELP ${A}_serial_number_info Variable serial number of objects of class Pump-Type.A.`,
      `# TYPE ${A}_serial_number_info gauge`,
      `${A}_serial_number_info{${at},value="A \\"1\\""} 1`,
      '',
    ]);
  });

  /** A variable of the root, and the name and type of its family. */
  const families: readonly (readonly [string, VariableOptions, string])[] = [
    ['sent_total', { type: 'u64', kind: 'counter' }, 'pumps_shop_sent_total counter'],
    ['sent', { type: 'bool', kind: 'counter' }, 'pumps_shop_sent_total counter'],
    ['#', { type: 'u64', kind: 'gauge' }, 'pumps_shop gauge'],
  ];
  for (const [name, options, family] of families)
    it(`exposes the ${options.kind} "${name}" of type ${options.type} as "# TYPE ${family}"`, () => {
      const source = new FakeSource();
      const root = source.addObject('h.1.pumps', 'Shop');
      source.addVariable(root, name, { ...options, value: 1 });
      expect(testView(source, root, { app: 'pumps' }).text()).to.include(`# TYPE ${family}\n`);
    });

  it('exposes the first 512 characters of a help text', () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.pumps', 'Shop');
    source.addVariable(root, 'v', { type: 'u64', help: `${'x'.repeat(512)}yz`, value: 1 });
    const [help] = testView(source, root, { app: 'pumps' }).text().split('\n');
    expect(help).to.equal(`# HELP pumps_shop_v ${'x'.repeat(512)}`);
  });

  it('exposes a path segment as a label if a pattern names the segment', () => {
    const { source, root } = pumps();
    const pathLabels = ['cellar.{room}', '{area}.{pump}'];
    const { lines } = testView(source, root, { app: 'pumps', pathLabels });
    expect(lines()).to.include.members([
      'pumps_pump_station_managed_objs{object="@root"} -3',
      'pumps_pump_type_a_is_on{object="hall.7.",area="hall",pump="7"} 1',
      'pumps_pump_type_a_serial_number_info{object="hall.7.",area="hall",pump="7",value="A \\"1\\""} 1',
      'pumps_pump_type_a_head_bucket{object="hall.7.",area="hall",pump="7",le="1"} 1',
    ]);
  });

  describe('(metric name from the format)', () => {
    const metric = (type: string) => ({ name: 'pumps_flows', help: 'Flows.', labels: { type } });

    function twoFlows() {
      const source = new FakeSource();
      const root = source.addObject('h.1.pumps', 'Hall');
      const labels = { hall: '7' };
      const hall = source.addObject('h.1.pumps.hall', 'Hall', { parent: root, labels });
      for (const type of ['in', 'out'])
        source.addVariable(hall, `flow_${type}`, {
          ...{ type: 'u64', kind: 'gauge', value: type.length },
          metric: metric(type),
        });
      source.addVariable(hall, 'other', { type: 'u64', kind: 'gauge', value: 4 });
      return { source, root, hall };
    }

    it('exposes the name, help and labels of the format, without the path', () => {
      const { source, root } = twoFlows();
      const { text } = testView(source, root, { app: 'pumps' });
      expect(text().split('\n')).to.deep.equal([
        '# HELP pumps_flows Flows.',
        '# TYPE pumps_flows gauge',
        'pumps_flows{hall="7",type="in"} 2',
        'pumps_flows{hall="7",type="out"} 3',
        '# HELP pumps_hall_other Variable other of objects of class Hall.',
        '# TYPE pumps_hall_other gauge',
        'pumps_hall_other{object="hall",hall="7"} 4',
        '',
      ]);
    });

    it('adds a path segment as a label if a pattern names the segment', () => {
      const { source, root } = twoFlows();
      const { lines } = testView(source, root, { app: 'pumps', pathLabels: ['{area}'] });
      expect(lines()).to.include('pumps_flows{area="hall",hall="7",type="in"} 2');
    });

    it('exposes a generated name if an added catalogue already has the name that the format states', () => {
      const { source, root, hall } = twoFlows();
      const catalogue = shopCatalogue(
        '{ name = "shop_objs", type = "gauge", help = "Objects.", var = "# managed objs" }',
      );
      const taken = { name: 'shop_objs', help: 'x', labels: {} };
      source.addVariable(hall, 'mine', {
        type: 'u64',
        kind: 'gauge',
        value: 1,
        metric: taken,
      });
      const { lines } = testView(source, root, { catalogue, showUncatalogued: true });
      expect(lines()).to.include.members([
        'pumps_flows{hall="7",type="in"} 2',
        'shop_hall_mine{object="hall",hall="7"} 1',
      ]);
    });
  });

  it('adds no path labels to rows of an added catalogue', () => {
    const { source, root } = pumps();
    const catalogue = shopCatalogue(
      '{ name = "shop_objs", type = "gauge", help = "Objects.", var = "# managed objs" }',
    );
    const at = { catalogue, pathLabels: ['{area}'] };
    const shop = source.addObject('h.1.pumps.floor', 'Shop', { parent: root });
    source.addVariable(shop, '# managed objs', { type: 'u64', value: 1 });
    expect(testView(source, shop, at).lines()).to.deep.equal(['shop_objs 1']);
  });

  it('passes promtool check metrics', function () {
    needsPrograms(this, 'promtool');
    const { source, root } = pumps();
    const { text } = testView(source, root, { app: 'pumps' });
    const output = execFileSync('promtool', ['check', 'metrics'], { input: text() });
    expect(output.toString()).to.equal('');
  });

  it('has one family for all objects of a class, and reports a clash if the types of variables differ', () => {
    const { source, root, pump } = pumps();
    const { lines, clashes } = testView(source, root, { app: 'pumps' });
    lines();
    const more = source.addObject('h.1.pumps.hall.8', 'Pump-Type.A', { parent: root });
    source.addVariable(more, 'isOn', { type: 'bool', value: false });
    const other = source.addObject('h.1.pumps.hall.9', 'Pump-Type.A', { parent: root });
    source.addVariable(other, 'isOn', { type: 'u64', value: 7 });
    const isOn = () => lines().filter((line) => line.startsWith('pumps_pump_type_a_is_on'));
    const of = (object: string) => `pumps_pump_type_a_is_on{object="${object}"}`;
    expect(isOn()).to.deep.equal([`${of('hall.7.')} 1`, `${of('hall.8')} 0`]);
    expect(clashes).to.deep.equal([of('hall.9')]);
    source.remove(pump);
    source.remove(more);
    expect(isOn()).to.deep.equal([`${of('hall.9')} 7`]);
  });

  it('keeps the first help text of a metric until its last series ends', () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.pumps', 'Station');
    const { text } = testView(source, root, { app: 'pumps' });
    const add = (
      name: string,
      help: string,
      options: VariableOptions = { type: 'u64', value: 1 },
    ) => {
      const pump = source.addObject(`h.1.pumps.${name}`, 'Pump', { parent: root });
      source.addVariable(pump, 'head', { ...options, help });
      return pump;
    };
    const help = () => /# HELP pumps_pump_head (.*)/.exec(text())?.[1];
    const first = add('a', 'First.');
    expect(help()).to.equal('First.');
    const second = add('b', 'Second.');
    expect(help()).to.equal('First.');
    source.remove(first);
    expect(help()).to.equal('First.');
    source.remove(second);
    expect(help()).to.equal(undefined);
    const third = add('c', 'Third.');
    expect(help()).to.equal('Third.');
    source.remove(third);
    // Replaces the family by a family of another type, in the same render.
    const counts = BigUint64Array.of(1n, 2n);
    const histogram = {
      type: 'histogram',
      schema: [1],
      value: { type: 'histogram', counts, sum: 9 },
    } as const;
    const fourth = add('d', 'Fourth.', histogram);
    expect(help()).to.equal('Fourth.');
    source.remove(fourth);
    add('e', '');
    expect(help()).to.equal('Variable head of objects of class Pump.');
  });

  describe('with random classes, units and names', () => {
    /** Some of these combinations of class, name and unit yield the same metric name. */
    const described = fc.record({
      className: fc.constantFrom('a', 'b', 'a b', ' b', 'b a', 'A', 'a  b', 'seconds'),
      name: fc.constantFrom('a', 'b', 'a b', 'b a', '1', '1 a', 'u64'),
      unit: fc.constantFrom('', 'seconds', 'seconds a', 'seconds b', 'a'),
      kind: fc.constantFrom('counter', 'gauge'),
      type: fc.constantFrom('u64', 'f64'),
      help: fc.constantFrom('', 'H.'),
    });
    type Described = typeof described extends fc.Arbitrary<infer T> ? T : never;

    /**
     * Returns the lines and metric types of a tree in which each of these variables has an object of its own.
     */
    function shown(all: readonly Described[], first = 0) {
      const source = new FakeSource();
      const root = source.addObject('h.1.shop', 'Shop');
      all.forEach(({ className, name, ...options }, index) => {
        const id = `h.1.shop.o${first + index}`;
        const object = source.addObject(id, className, { parent: root });
        source.addVariable(object, name, { ...options, value: first + index });
      });
      return testView(source, root).text().split('\n');
    }

    it('names the series of a variable as if the target had no other variable', () =>
      fc.assert(
        fc.property(fc.array(described, { minLength: 2, maxLength: 20 }), (all) => {
          const together = new Set(shown(all));
          const typeOf = (lines: readonly string[]) =>
            lines.find((line) => line.startsWith('# TYPE')) ?? '';
          const alone = all.map((each, index) => shown([each], index));
          // If two metrics have the same name but different types, only the first is shown.
          const types = new Map<string, string>();
          for (const lines of alone) {
            const type = typeOf(lines);
            const name = type.split(' ')[2] ?? '';
            if (!types.has(name)) types.set(name, type);
            const series = lines.filter((line) => line !== '' && !line.startsWith('#'));
            expect(series).to.have.lengthOf(1);
            expect(together.has(series[0] ?? ''), series[0]).to.equal(types.get(name) === type);
          }
        }),
        { numRuns: 200 },
      ));
  });
});
