// Tests large pages from a thread whose memory grows: they equal, byte for byte, the pages of a partition in
// the main thread.
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { map } from 'rxjs';
import type { Subscription } from 'rxjs';
import { OPEN_METRICS } from '#app/exposition/page/open-metrics.js';
import { PROTOBUF } from '#app/exposition/page/protobuf.js';
import { compileScope } from '#app/exposition/page/scope.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import type { Body, DemandAnswer, Format, LineForm, Page, Scope } from '#app/model.js';
import { posixMemory } from '#app/native/os/posix.js';
import { PartitionSet } from '#app/targets/partitions/partition-set.js';
import { ServedTarget } from '#app/targets/served-target.js';
import { BUNDLED_THREAD } from '../../support/bundled-thread.js';
import { definitionOf } from '../../support/definition-of.js';
import { eventually, eventuallyFor } from '../../support/eventually.js';
import { follow } from '../../support/follow.js';
import { MODES } from '../../support/modes.js';
import { Publishers } from '../../support/publishers.js';

const nowMs = () => performance.now();
/** The numbers of objects. Each object has two variables, so the last page has more than 1 MB. */
const SIZES = [100, 3000, 8000];

/** The pages to request at each size, in this order. */
const REQUESTS: readonly { format: Format; form: LineForm; scope?: Scope }[] = [
  { format: TEXT, form: 'text' },
  { format: TEXT, form: 'deflated' },
  { format: OPEN_METRICS, form: 'text' },
  { format: PROTOBUF, form: 'protobuf' },
  {
    format: OPEN_METRICS,
    form: 'deflated',
    scope: compileScope({ name: 'hot', metrics: ['*_temperature'] }),
  },
];

describe('large pages of targets in a thread whose memory grows', () => {
  const publishers = new Publishers();
  const running: Subscription[] = [];
  const partitions: PartitionSet[] = [];
  afterEach(() => {
    for (const subscription of running.splice(0)) subscription.unsubscribe();
    for (const each of partitions.splice(0)) each.close();
    publishers.closeAll();
  });

  /** Serves two targets in one partition: one has all objects, the other the objects of one class. */
  const serve = (workerExecutionMode: (typeof MODES)[number]): readonly ServedTarget[] => {
    const { contextId } = publishers;
    const settings = { workerExecutionMode, contextId, poolName: 'pool' };
    const set = new PartitionSet(settings, posixMemory(), nowMs, BUNDLED_THREAD);
    partitions.push(set);
    return [[], ['Even']].map((classes) => {
      const target = new ServedTarget({
        definition: definitionOf({ renderMinIntervalMs: 1, classes }),
        partition: set.get(0),
        rebalances: { moves: 0, lastMs: 0 },
        unixMs: () => 0,
        nowMs,
      });
      running.push(follow(target.run()).subscription);
      return target;
    });
  };

  const pageOf = (answer: DemandAnswer, format: Format): Page | Promise<Page> => {
    if (answer.kind === 'waiting') throw new Error(answer.status.progress.reason);
    return format.page({ ...answer, internal: [] });
  };
  const bytesOf = ({ buffers }: Body): Buffer => Buffer.concat(buffers);

  /** Requests a page. Returns its body, which stays held, and the plain text. */
  async function ask(target: ServedTarget, request: (typeof REQUESTS)[number]) {
    const { format, form, scope } = request;
    const page$ = target.demand(scope, form).pipe(map((each) => pageOf(each, format)));
    const { seen } = follow(page$);
    await eventually('the demand is answered', () => seen.length > 0);
    const page = (await seen[0]) ?? expect.fail();
    if (form !== 'deflated') return { body: page, text: bytesOf(page) };
    const body = (await page.gzip?.()) ?? expect.fail('no gzip');
    return { body, text: gunzipSync(bytesOf(body)) };
  }

  it('equal the pages of the main thread in each format, scope and form of lines', async () => {
    const publisher = publishers.make('82', { capacity: { slots: 2 ** 16 } });
    const root = publisher.addRoot('H.1.demo', 'Root');
    const values: { set(value: number): void }[] = [];
    const grow = (objects: number): void => {
      for (let i = values.length / 2; i < objects; i++) {
        const name = `H.1.demo.object-with-a-long-name-${i}`;
        const object = publisher.addObject(root, name, i % 2 === 0 ? 'Even' : 'Odd');
        for (const variable of ['temperature', 'pressure']) {
          const value = publisher.addVariable(object, variable, 'u64');
          value.set(i);
          values.push(value);
        }
      }
      publisher.notify();
    };
    publisher.place();
    const [plain = [], threaded = []] = MODES.map((mode) => serve(mode));
    const held: { readonly body: Body; readonly bytes: Buffer }[] = [];
    let largest = 0;
    for (const size of SIZES) {
      grow(size);
      for (const [index, target] of [plain, threaded].flatMap((each) => [...each.entries()])) {
        const objects = index === 0 ? size + 1 : size / 2;
        await eventuallyFor(
          target,
          `it has ${objects} objects`,
          () => target.status().isReady && target.status().progress.objects.synced === objects,
        );
      }
      for (const [round, request] of REQUESTS.entries()) {
        for (const [i, value] of values.entries()) if (i % 7 === round) value.set(size + i + round);
        for (const [index, target] of plain.entries()) {
          const inThread = threaded[index] ?? expect.fail();
          const expected = await ask(target, request);
          const shown = await ask(inThread, request);
          const where = `${request.form} of ${size} objects, target ${index}, request ${round}`;
          expect(shown.text.equals(expected.text), where).to.equal(true);
          largest = Math.max(largest, shown.text.length);
          held.push({ body: shown.body, bytes: bytesOf(shown.body) });
          expected.body.release();
        }
      }
    }
    expect(largest).to.be.above(1_000_000);
    for (const { body, bytes } of held) {
      expect(bytesOf(body).equals(bytes), 'bytes of a held page').to.equal(true);
      body.release();
    }
  });
});
