// Tests that the page of a bridged component equals the page of a segment with the same objects.
import { expect } from 'chai';
import { chmodSync, existsSync } from 'node:fs';
import { parseScenario } from '#app/simulator/scenario.js';
import type { ScenarioObject, ScenarioVariable } from '#app/simulator/scenario.js';
import { Random } from '#app/simulator/course.js';
import type { TestComponentOptions } from '../support/component/component.js';
import { ODDITIES } from '../support/component/oddities.js';
import type { OddityName } from '../support/component/oddities.js';
import { COMPONENT_TLS, tlsPath } from '../support/component-certificates.js';
import { ODD_SCENARIO } from '../support/odd-scenario.js';
import { testPrograms } from '../support/processes.js';
import { BRIDGED, BridgePair, RECORDED, inAnyOrder, recordedText } from './bridge-pair.js';
import { needs } from '../support/needs.js';

/** Returns another value of the same type, often one at the end of the range. */
function otherValue({ type }: ScenarioVariable, random: Random): unknown {
  const small = random.below(1_000_000);
  const pick = <T>(...values: readonly T[]): T => values[random.below(values.length)] as T;
  switch (type) {
    case 'u64':
      return pick<unknown>(small, 2 ** 40 + small, '9007199254740993', '9223372036854775807');
    case 'i64':
      return pick<unknown>(small, -small, '9007199254740993', '-9223372036854775808');
    case 'f64':
      return pick(small / 1000, -small / 7, small);
    case 'bool':
      return random.below(2) === 1;
    default:
      return pick(`text-${small}`, '', 'ä "quoted" \\ \u0001', 'x'.repeat(random.below(500)));
  }
}

/** Variables that identify a run of a component keep their values: a change would mean a new run. */
const isIdentity = ({ name }: ScenarioVariable): boolean => name === 'processID' || name === 'time';
const isPlain = (variable: ScenarioVariable): boolean =>
  variable.value !== undefined &&
  !isIdentity(variable) &&
  variable.type !== 'histogram' &&
  variable.type !== 'summary';

/** Returns `count` random changes of values. */
function changes(objects: readonly ScenarioObject[], count: number, random: Random) {
  const all = objects.flatMap(({ id, variables }) =>
    variables.filter(isPlain).map((variable) => ({ id, variable })),
  );
  return Array.from({ length: count }, () => {
    const { id, variable } = all[random.below(all.length)] ?? { id: '', variable: undefined };
    if (variable === undefined) throw new Error('There are no variables');
    return [id, [[variable.name, otherValue(variable, random)]]] as const;
  });
}

const isBelow = (objects: readonly ScenarioObject[], top: string): ReadonlySet<string> => {
  const below = new Set([top]);
  for (const { id, parent } of objects) if (parent !== null && below.has(parent)) below.add(id);
  return below;
};

interface Trial {
  readonly name: string;
  readonly text: () => string;
  readonly app: string;
  /** An object that the test removes with its descendants, and adds again. */
  readonly comesAndGoes: string;
  /** An object whose class determines what the page shows. */
  readonly classed: string;
  readonly root: string;
  /** Whether the page shows the state of the root. */
  readonly showsState?: boolean;
  readonly options?: TestComponentOptions;
  /** Values that the first page must have. */
  readonly exact?: Readonly<Record<string, string>>;
}

/**
 * The odd scenario with only those variables that a component can show: variables that have a value other
 * than NaN.
 */
const oddText = (): string => {
  const objects = ODD_SCENARIO.objects.map((object) => ({
    ...object,
    variables: Object.fromEntries(
      Object.entries(object.variables).filter(
        ([, variable]) => 'value' in variable && variable.value !== 'NaN',
      ),
    ),
  }));
  return JSON.stringify({ ...ODD_SCENARIO, objects }).replaceAll('.1.adh', '.1.odd');
};

const ODD = {
  text: oddText,
  app: 'odd',
  comesAndGoes: 'desk.example.com.1.odd.mount.7',
  classed: 'desk.example.com.1.odd.mount.7',
  root: 'desk.example.com.1.odd',
  exact: {
    just_beyond_doubles: '9007199254740993',
    most_of_i64: '9223372036854775807',
    least_of_i64: '-9223372036854775808',
    beyond_i64: '9223372036854775808',
    most_of_u64: '18446744073709551615',
    count_at_2_31_total: '2147483648',
    count_at_2_32_1_total: '4294967295',
    tenth: '0.1',
    tiny: '5e-324',
  },
};

const KEY = 'Wednesday 7';

const TRIALS: readonly Trial[] = [
  {
    name: 'the tree of a real ADH 3.8',
    text: recordedText,
    app: 'adh',
    comesAndGoes: 'lseg1.bgp59.com.1.adh.rrmpConsumer.DF_LEV_ONE',
    classed: 'lseg1.bgp59.com.1.adh.source.server.rest.transmissionBus',
    root: 'lseg1.bgp59.com.1.adh',
    showsState: true,
  },
  {
    ...ODD,
    name: 'a tree with every possible value',
  },
  {
    ...ODD,
    name: 'an irregular tree, over HTTPS with compression and a key,',
    options: {
      oddities: Object.keys(ODDITIES) as OddityName[],
      tls: COMPONENT_TLS,
      securityKey: KEY,
      isChunked: true,
    },
  },
];

for (const { name, text, app, comesAndGoes, classed, root, showsState, options, exact } of TRIALS)
  describe(`behind the bridge, ${name}`, function () {
    this.slow(20_000);
    const programs = testPrograms();
    const random = new Random(11);
    let pair: BridgePair;
    /** Closes the pair, if the pair has been started. */
    let close = (): Promise<void> => Promise.resolve();
    let objects: readonly ScenarioObject[] = [];
    let page = '';

    before('the tree is at hand', function () {
      needs(
        this,
        text !== recordedText || existsSync(RECORDED),
        'the recorded tree is not beside the project',
      );
    });
    before(async () => {
      pair = new BridgePair(programs, text(), options);
      close = () => pair.close();
      ({ objects } = parseScenario(text(), name));
      const key = programs.write('key', `${KEY}\n`);
      chmodSync(key, 0o600);
      const secured = { ca_file: tlsPath('component.cert.pem'), security_key: `file:${key}` };
      await pair.start(app, options === undefined ? {} : { ...secured, deflate: 'always' });
    });
    after(() => close());

    it('gives the same page as without the bridge', async () => {
      page = await pair.same('the first pages');
      expect(page.split('\n').length).to.be.above(50);
    });

    for (const [variable, value] of Object.entries(exact ?? {}))
      it(`shows the variable "${variable}" as exactly ${value}`, () =>
        expect(page).to.match(
          new RegExp(`^odd_net_rec_src_${variable}\\{object="numbers"\\} ${value}$`, 'm'),
        ));

    it('gives the same page as without the bridge after values change', async () => {
      for (let round = 0; round < 2; round++) {
        const count = Math.ceil(objects.length);
        pair.play({ set: changes(objects, count, random) });
        page = await pair.same(`round ${round}`, page);
      }
    });

    it('gives the same page as without the bridge after objects disappear and after they return', async () => {
      const gone = isBelow(objects, comesAndGoes);
      pair.play({ remove: [comesAndGoes] });
      page = await pair.same('after they went', page);
      pair.play({ add: objects.filter(({ id }) => gone.has(id)) });
      page = await pair.same('after they came back', page);
    });

    it('gives the same page as without the bridge after an object returns with another class', async () => {
      const gone = isBelow(objects, classed);
      const back = objects.filter(({ id }) => gone.has(id));
      const other = back.map((each) => (each.id === classed ? { ...each, class: 'B' } : each));
      pair.play({ remove: [classed], add: other });
      page = await pair.same('of another class', page);
      pair.play({ remove: [classed], add: back });
      page = await pair.same('of its own class again', page);
    });

    if (showsState)
      it('gives the same page as without the bridge after states change', async () => {
        pair.play({ state: [[root, 'manual_recovery']] });
        page = await pair.same('in manual recovery', page);
        pair.play({ state: [[root, 'normal']] });
        page = await pair.same('normal again', page);
      });

    it('gives the same series as without the bridge when totals grow beyond 63 bits, and when they shrink again', async () => {
      // For a value that needs the 64th bit, the bridge replaces the variable. The series of the new
      // variable comes last in its family.
      const totals = objects.flatMap(({ id, variables }) =>
        variables
          .filter(({ type }) => type === 'u64')
          .map((variable) => [id, variable.name] as const),
      );
      for (const value of ['9223372036854775808', '18446744073709551615', '5']) {
        pair.play({ set: totals.map(([id, variable]) => [id, [[variable, value]]] as const) });
        page = await pair.same(`totals of ${value}`, page, inAnyOrder);
      }
    });

    it('gives the same page as without the bridge after the component restarts', async () => {
      const roots = objects.filter(({ parent }) => parent === null).map(({ id }) => id);
      const reset = ({ type, name: variable, value }: ScenarioVariable): unknown => {
        if (variable === 'processID') return 31_337;
        return type === 'u64' && value !== undefined ? 0n : value;
      };
      const anew = objects.map((object) => ({
        ...object,
        variables: object.variables.map((each) => ({ ...each, value: reset(each) as never })),
      }));
      pair.play({ remove: roots, add: anew });
      page = await pair.same('after the restart', page);
      const { body } = await pair.page('shm_bridge', BRIDGED);
      expect(body).to.match(/^shm_bridge_component_restarts_total\{object="@root"\} 1$/m);
    });

    it('is read by GET requests only, each on a new connection', () => {
      const { requests } = pair.server;
      const asked = requests.map(({ method, headers }) => `${method} ${headers.connection ?? ''}`);
      expect(new Set(asked)).to.deep.equal(new Set(['GET close']));
      expect(requests.length).to.be.above(8);
    });
  });
