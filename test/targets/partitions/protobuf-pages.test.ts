// Protobuf pages of a real segment: the same values as the text page, and the start of the publisher.
import { expect } from 'chai';
import { map } from 'rxjs';
import type { Subscription } from 'rxjs';
import { PROTOBUF } from '#app/exposition/page/protobuf.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import type { DemandAnswer } from '#app/model.js';
import { posixMemory } from '#app/native/os/posix.js';
import { PartitionSet } from '#app/targets/partitions/partition-set.js';
import { ServedTarget } from '#app/targets/served-target.js';
import { BUNDLED_THREAD } from '../../support/bundled-thread.js';
import { definitionOf } from '../../support/definition-of.js';
import { eventually } from '../../support/eventually.js';
import { follow } from '../../support/follow.js';
import { inBothModes } from '../../support/modes.js';
import {
  decodedFamilies,
  decodedSeries,
  decodedStarts,
  textSeries,
} from '../../support/protobuf-page.js';
import { Publishers } from '../../support/publishers.js';

inBothModes('protobuf pages of a segment', (mode) => {
  const publishers = new Publishers();
  const nowMs = () => performance.now();
  let running: Subscription | undefined;
  let partitions: PartitionSet | undefined;
  afterEach(() => {
    running?.unsubscribe();
    partitions?.close();
    publishers.closeAll();
  });

  const serve = (): ServedTarget => {
    const settings = {
      ...{ workerExecutionMode: mode, contextId: publishers.contextId, poolName: 'pool' },
    };
    partitions = new PartitionSet(settings, posixMemory(), nowMs, BUNDLED_THREAD);
    const target = new ServedTarget({
      definition: definitionOf({ renderMinIntervalMs: 0 }),
      partition: partitions.get(0),
      rebalances: { moves: 0, lastMs: 0 },
      unixMs: () => 0,
      nowMs,
    });
    running = follow(target.run()).subscription;
    return target;
  };

  /** The pages of one snapshot in protobuf and text. A page is made before its report ends. */
  const pagesOf = async (target: ServedTarget) => {
    const pages = (answer: DemandAnswer) => {
      if (answer.kind === 'waiting') throw new Error(answer.status.progress.reason);
      const hasMessages = answer.snapshot.lines('protobuf') !== undefined;
      return { hasMessages, protobuf: PROTOBUF.page(answer), text: TEXT.page(answer) };
    };
    // Renders write both forms for some time.
    follow(target.demand(undefined, 'text'));
    const { seen } = follow(target.demand(undefined, 'protobuf').pipe(map(pages)));
    await eventually('the demand is answered', () => seen.length > 0);
    const made = seen[0] ?? expect.fail();
    const [protobuf, text] = [await made.protobuf, made.text];
    const families = decodedFamilies(Buffer.concat(protobuf.buffers));
    const series = textSeries(Buffer.concat(text.buffers).toString());
    protobuf.release();
    text.release();
    return { ...made, families, series };
  };

  it('have the values of the text page, and state when the publisher and later objects began', async () => {
    const startedUnixMs = Date.now() - 3_600_000;
    const publisher = publishers.make('82', {
      realtimeNs: () => BigInt(startedUnixMs) * 1_000_000n,
    });
    const root = publisher.addRoot('H.1.demo', 'Root');
    publisher.addVariable(root, 'sales', 'u64', { kind: 'counter' }).set(7);
    publisher.addVariable(root, 'stock', 'i64', { kind: 'gauge' }).set(-3);
    publisher.place();
    publisher.notify();
    const target = serve();
    await eventually('the target is ready', () => target.status().isReady);

    const beforeMs = Date.now();
    await pagesOf(target);
    const till = publisher.addObject(root, 'H.1.demo.till', 'Till');
    publisher.addVariable(till, 'sales', 'u64', { kind: 'counter' }).set(2);
    publisher.notify();
    const { hasMessages, families, series } = await pagesOf(target);
    expect(hasMessages).to.equal(true);
    expect(series).to.have.length.above(3);
    expect(decodedSeries(families)).to.deep.equal(series);
    const starts = decodedStarts(families);
    expect(starts).to.have.property('demo_root_sales_total[["object","@root"]]', startedUnixMs);
    expect(starts).to.have.property('demo_root_stock[["object","@root"]]', undefined);
    expect(starts['demo_till_sales_total[["object","till"]]']).to.be.within(beforeMs, Date.now());
  });
});
