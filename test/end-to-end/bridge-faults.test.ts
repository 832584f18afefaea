// Tests what an exporter's page shows of a bridged component with each kind of fault.
import { expect } from 'chai';
import { FAULT_NAMES } from '../support/component/faults.js';
import type { FaultName } from '../support/component/faults.js';
import { ODD_SCENARIO } from '../support/odd-scenario.js';
import { waitFor, testPrograms } from '../support/processes.js';
import { reasonOfFault } from '../support/component/failures.js';
import { BRIDGED, BridgePair } from './bridge-pair.js';
import { applicationPart, samplesOf } from './page.js';

const APP = 'odd';
const text = JSON.stringify({
  server_key: '80',
  objects: ODD_SCENARIO.objects.map((object) => ({
    ...object,
    variables: Object.fromEntries(
      Object.entries(object.variables).filter(([, variable]) => 'value' in variable),
    ),
  })),
}).replaceAll('.1.adh', '.1.odd');

interface Own {
  readonly up: number;
  readonly polls: number;
  /** The number of failed polls by reason. */
  readonly failures: ReadonlyMap<string, number>;
}

async function ownOf(pair: BridgePair): Promise<Own> {
  const { body } = await pair.page('shm_bridge', BRIDGED);
  const samples = samplesOf(body);
  const value = (name: string) =>
    Number(samples.find((sample) => sample.name === `shm_bridge_component_${name}`)?.value);
  const failures = samples
    .filter(({ name }) => name === 'shm_bridge_failure_polls_total')
    .map(
      ({ labels, value: count }) =>
        [labels['object']?.replace('failures.', '') ?? '', Number(count)] as const,
    );
  return { up: value('up'), polls: value('polls_total'), failures: new Map(failures) };
}

/**
 * One fault for each failure reason that leaves the tree published. test/bridge/poll/fetch-body.test.ts tests
 * all faults.
 */
const LEAVES_TREE: readonly FaultName[] = FAULT_NAMES.filter(
  (fault, index) =>
    !['no_data', 'tree'].includes(reasonOfFault(fault)) &&
    FAULT_NAMES.findIndex((each) => reasonOfFault(each) === reasonOfFault(fault)) === index,
);

describe('a bridged component', function () {
  this.slow(10_000);
  const programs = testPrograms();
  let pair: BridgePair;
  let page = '';
  const bridged = () => pair.page(APP, BRIDGED);

  before(async () => {
    pair = new BridgePair(programs, text, { slowMs: 3000, dripMs: 100 });
    await pair.start(APP, {
      request_timeout_ms: 700,
      connect_timeout_ms: 500,
      max_body_bytes: 1 << 20,
      stale_after: 30,
      lost_after: 60,
      max_back_off_ms: 1000,
    });
    page = await waitFor('the first page', async () => {
      const { status, body } = await bridged();
      return status === 200 ? applicationPart(body) : undefined;
    });
  });
  after(async () => {
    await pair.close();
  });

  for (const fault of LEAVES_TREE)
    it(`with the fault "${fault}" keeps its last page, counts the failure as "${reasonOfFault(fault)}", and recovers within three polls`, async () => {
      const reason = reasonOfFault(fault);
      const before = await ownOf(pair);
      pair.server.fault = fault;
      await pair.server.settled;
      await waitFor(`${reason} is counted`, async () => {
        const own = await ownOf(pair);
        const grown = [...own.failures].filter(
          ([each, count]) => count > (before.failures.get(each) ?? 0),
        );
        // The fault began during a poll, which may have failed for another reason.
        return own.up === 0 && grown.some(([each]) => each === reason) ? own : undefined;
      });
      const { status, body } = await bridged();
      expect(status).to.equal(200);
      expect(applicationPart(body)).to.equal(page);
      pair.server.fault = undefined;
      await pair.server.settled;
      const { polls } = await ownOf(pair);
      const back = await waitFor('it is up again', async () => {
        const own = await ownOf(pair);
        return own.up === 1 ? own : undefined;
      });
      // One poll was in progress when the fault ended, and another may time out on a busy machine.
      expect(back.polls - polls, 'polls').to.be.at.most(3);
      expect(applicationPart((await bridged()).body)).to.equal(page);
      expect(pair.server.followed).to.equal(0);
    });

  for (const fault of ['no_content', 'empty_array'] as const)
    it(`with the fault "${fault}" returns no objects, and its page answers 503 until the fault ends`, async () => {
      pair.server.fault = fault;
      const { body } = await waitFor('503', async () => {
        const reply = await bridged();
        return reply.status === 503 ? reply : undefined;
      });
      expect(body).to.match(/waiting on .*root/i);
      expect(await ownOf(pair)).to.include({ up: 0 });
      pair.server.fault = undefined;
      const again = await waitFor('200', async () => {
        const reply = await bridged();
        return reply.status === 200 ? reply : undefined;
      });
      expect(applicationPart(again.body)).to.equal(page);
    });

  it('causes a warning when each poll is answered by a different process, and recovers afterwards', async () => {
    pair.server.fault = 'other_component';
    await pair.bridge?.line(/twin: a different process answers each poll: do two components share/);
    pair.server.fault = undefined;
    await waitFor('its own page again', async () => {
      const { status, body } = await bridged();
      return status === 200 && applicationPart(body) === page ? true : undefined;
    });
  });

  it('causes at most two log lines for each reason why polls fail', () => {
    const lines = pair.bridge?.stderr.split('\n') ?? [];
    for (const reason of new Set(LEAVES_TREE.map((fault) => reasonOfFault(fault)))) {
      const told = lines.filter((line) => line.includes(`no tree (${reason})`));
      expect(told.length, reason).to.be.within(1, 2);
    }
    expect(lines.filter((line) => line.includes(' debug '))).to.deep.equal([]);
  });
});

describe('a component that does not answer for a long time', function () {
  this.slow(20_000);
  const programs = testPrograms();
  let pair: BridgePair;
  const stateOf = (body: string) =>
    samplesOf(body).find(({ name, value }) => name === 'adh_process_object_state' && value === '1')
      ?.labels['adh_process_object_state'];
  const asOfAge = (body: string) =>
    Number(
      samplesOf(body).find(({ name }) => name === 'shm_exporter_target_as_of_age_seconds')?.value,
    );
  const bridged = (isRight: (reply: { status: number; body: string }) => boolean, what: string) =>
    waitFor(what, async () => {
      const reply = await pair.page('adh', BRIDGED);
      return isRight(reply) ? reply : undefined;
    });

  before(async () => {
    const own = text.replaceAll('.1.odd', '.1.adh');
    pair = new BridgePair(programs, own);
    await pair.start('adh', { stale_after: 3, lost_after: 6, max_back_off_ms: 1000 });
  });
  after(async () => {
    await pair.close();
  });

  it('is in auto_recovery while its values are stale, then not ready, and ready when it answers again', async () => {
    // If mocha retries this test, the fault of the failed attempt may still be set.
    pair.server.fault = undefined;
    const { body: fresh } = await bridged(
      (reply) => reply.status === 200 && stateOf(reply.body) === 'normal',
      'the first page',
    );
    expect(asOfAge(fresh)).to.be.within(0, 3);

    pair.server.fault = 'hang';
    const { body: stale } = await bridged(
      ({ status, body }) => status === 200 && stateOf(body) === 'auto_recovery',
      'auto_recovery',
    );
    expect(asOfAge(stale)).to.be.above(2.5);
    await pair.bridge?.line(
      /warning twin: no tree for 3 s: its roots now have the state auto_recovery/,
    );
    const others = (body: string) => applicationPart(body).replace(/^.*object_state.*\n/gm, '');
    expect(others(stale)).to.equal(others(fresh));
    const { body: own } = await pair.page('shm_bridge', BRIDGED);
    expect(own).to.match(/^shm_bridge_component_is_stale\{object="@root"\} 1$/m);

    const { body: gone } = await bridged(({ status }) => status === 503, '503');
    expect(gone).to.match(/waiting on .*root/i);
    await pair.bridge?.line(
      /warning twin: no tree for 6 s: its roots are removed until the next successful poll/,
    );

    pair.server.fault = undefined;
    const { body: back } = await bridged(({ status }) => status === 200, 'the page again');
    expect(applicationPart(back)).to.equal(applicationPart(fresh));
    await pair.bridge?.line(/info twin: received its tree after \d+ s/);
  });

  it('disappears from shared memory when the bridge ends, so that no reader waits for new values', async () => {
    const ended = await pair.bridge?.stop();
    expect(ended).to.deep.equal({ status: 0, signal: null });
    const { body } = await bridged(({ status }) => status === 503, '503');
    expect(body).to.match(/closed|absent|gone|no segment/i);
  });
});
