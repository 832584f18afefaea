// Publishes segments that come and go. Reports each publication and each end to the parent process.
// Usage: discover-publishers.js CONTEXT SEGMENTS_A_MINUTE LIFETIME_MS
import { setInterval, setTimeout } from 'node:timers';
import { Publisher } from '../dist/native/publisher/publisher.js';

const [contextId, rate, lifetimeMs] = process.argv.slice(2);
const MINUTE_MS = 60_000;
const live = new Map();
let count = 0;

function publish() {
  const serverKey = `churn${count++}`;
  const publisher = new Publisher({
    ...{ failIfBusy: true, contextId, serverKey, pid: process.pid },
    realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
    capacity: { records: 64, slots: 64, stringBytes: 4096 },
  });
  const root = publisher.addRoot(`host.${serverKey}.churn`, 'Churn');
  for (let index = 0; index < 4; index++)
    publisher.addVariable(root, `value${index}`, 'f64').set(index);
  publisher.place();
  live.set(serverKey, publisher);
  process.send({ published: serverKey });
  // Half of the lifetimes are shorter than the average, and half are longer.
  setTimeout(() => end(serverKey), Number(lifetimeMs) * (0.5 + Math.random()));
}

function end(serverKey) {
  live.get(serverKey)?.close();
  live.delete(serverKey);
  process.send({ ended: serverKey });
}

setInterval(publish, MINUTE_MS / Number(rate));
process.on('disconnect', () => {
  for (const publisher of live.values()) publisher.close();
  process.exit(0);
});
