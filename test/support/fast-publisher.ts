// A process that publishes, as fast as it can, values that a reader can check for tearing.
// Arguments: context id, server key. Runs until it is killed or its parent ends.
import process from 'node:process';
import { Publisher } from '#app/native/publisher/publisher.js';
import { BOUNDS, QUANTILES, textOf } from './checkable-values.js';

const [contextId = '', serverKey = ''] = process.argv.slice(2);
const realtimeNs = () => BigInt(Date.now()) * 1_000_000n;
const publisher = new Publisher({ contextId, serverKey, pid: process.pid, realtimeNs });
const root = publisher.addRoot('h.1.ads', 'Ads');
const word = publisher.addVariable(root, 'word', 'u64');
const text = publisher.addVariable(root, 'text', 'string', { textBytes: 4096 });
const histogram = publisher.addVariable(root, 'histogram', 'histogram', { schema: BOUNDS });
const summary = publisher.addVariable(root, 'summary', 'summary', { schema: QUANTILES });
let count = 1;

function publish(): void {
  const half = BigInt(count % 0xffffffff);
  word.set((half << 32n) | half);
  text.set(textOf(count));
  histogram.set(Array<number>(BOUNDS.length + 1).fill(count), count);
  summary.set(count, count, Array<number>(QUANTILES.length).fill(count));
  count++;
}

publish();
publisher.place();
process.send?.('placed');
process.on('disconnect', () => process.exit());
const work = () => {
  for (let round = 0; round < 2000; round++) {
    publish();
    // Pause for a random time, so that readers sometimes get a consistent copy.
    for (let pause = Math.random() * 3000; pause > 0; pause--) Math.sqrt(pause);
  }
  publisher.notify();
  setImmediate(work);
};
work();
