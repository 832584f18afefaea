import { expect } from 'chai';
import { readyPage, scrape, unready } from '../end-to-end/page.js';
import type { Reply } from '../end-to-end/page.js';
import { inBothModes } from '../support/modes.js';
import { waitFor, testPrograms } from '../support/processes.js';
import type { Published } from '../support/published.js';
import { aside, application, internal, shop, shopSeries } from './shop.js';
import { shows } from './shows.js';

inBothModes('the readiness of a target', function (worker_execution_mode) {
  this.slow(3000);
  const programs = testPrograms();
  const READY = 'internal_target_ready';
  const COMPLETE = 'internal_target_initial_sync_complete';
  const PENDING = 'internal_target_pending_sync_items';
  const labels = '{"app":"shop","server_key":"1"}';
  let url = '';
  let publisher: Published;
  let before503: Reply;
  /** The internal metrics of a target that is not ready. */
  let beside: ReadonlyMap<string, string>;
  let first = '';

  const counter = (value?: number) => ({ type: 'u64', ...(value !== undefined && { value }) });
  const child = (name: string, value?: number) => ({
    id: `h.1.shop.${name}`,
    parent: 'h.1.shop',
    class: 'Shelf',
    variables: { books: counter(value) },
  });

  before(async () => {
    url = await programs.exporter({ app: 'shop', server_keys: ['1'], worker_execution_mode }).url();
    publisher = programs.publish({
      server_key: '1',
      objects: [...shop('h.1.shop', 1), child('left'), { ...child('right', 5), synced: false }],
    });
    before503 = await waitFor('the counts of the whole tree', async () => {
      const reply = await scrape(url);
      return reply.body.includes('objects 4/5') ? reply : undefined;
    });
    beside = await aside(url);
    publisher.go({ set: { 'h.1.shop.left': { books: 7 } } });
    await unready(url, /objects 4\/5 synced, variables 5\/5 synced/);
    publisher.go({ sync: ['h.1.shop.right'] });
    first = await readyPage(url);
  });

  shows('3.1', () => {
    it('before the initial sync, a scrape gets 503 and "scrape not ready", and target_ready is 0 at /-/metrics', () => {
      expect(before503.status).to.equal(503);
      expect(before503.body).to.match(/^scrape not ready: /);
      for (const metric of [READY, COMPLETE])
        expect(beside.get(`shm_exporter_${metric}${labels}`)).to.equal('0');
    });
  });

  shows('7 503', () => {
    it('the message states how many of the items are synced, and names an unsynced item', () => {
      expect(before503.status).to.equal(503);
      expect(before503.headers['content-type']).to.match(/^text\/plain/);
      expect(before503.body).to.match(
        /^scrape not ready: objects 4\/5 synced, variables 4\/5 synced, waiting on .*h\.1\.shop\.(left|right)\n$/,
      );
    });
  });

  shows('2.5 shm_exporter_internal_target_pending_sync_items', () => {
    it('one unsynced object and one unsynced variable count as 2', () =>
      expect(beside.get(`shm_exporter_${PENDING}${labels}`)).to.equal('2'));

    it('a completely synced tree counts as 0', () => expect(internal(first, PENDING)).to.equal(0));
  });

  shows('3.2', () => {
    it('once the last object is synced, a scrape gets 200 with all values', () => {
      expect(internal(first, READY)).to.equal(1);
      expect(internal(first, COMPLETE)).to.equal(1);
      expect(application(first)).to.deep.equal({
        ...shopSeries('shop', 1),
        'shop_shelf_books{"object":"left"}': '7',
        'shop_shelf_books{"object":"right"}': '5',
      });
    });
  });

  shows('1.3.7', () => {
    it('a scrape gets no metrics before the initial sync, and all metrics after it', () => {
      expect(before503.body).not.to.contain('shop_');
      expect(Object.keys(application(first))).to.have.lengthOf(5);
    });
  });

  for (const metric of [READY, COMPLETE])
    shows(`2.5 shm_exporter_${metric}`, () => {
      it('the value is 0 before the initial sync and 1 after it', () => {
        expect(beside.get(`shm_exporter_${metric}${labels}`)).to.equal('0');
        expect(internal(first, metric)).to.equal(1);
      });
    });

  shows('3.3', () => {
    it('a new child leaves the target ready, and its metrics appear once they are synced', async () => {
      const late = 'shop_shelf_books{"object":"late"}';
      const statuses = new Set<number>();
      publisher.go({ add: [child('late')] });
      let wasPending = false;
      const page = await waitFor('the late series', async () => {
        const { status, body } = await scrape(url);
        statuses.add(status);
        if (internal(body, PENDING) > 0) {
          expect(internal(body, READY)).to.equal(1);
          expect(application(body)).to.deep.equal(application(first));
          if (!wasPending) publisher.go({ set: { 'h.1.shop.late': { books: 9 } } });
          wasPending = true;
        }
        return late in application(body) ? body : undefined;
      });
      expect(wasPending, 'it was seen while it was not synced').to.be.true;
      expect([...statuses]).to.deep.equal([200]);
      expect(application(page)).to.deep.equal({ ...application(first), [late]: '9' });
    });
  });
});
