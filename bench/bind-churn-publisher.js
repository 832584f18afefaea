// The publisher of bind-churn.js. It publishes a large tree, and adds and removes objects on command.
import { setInterval } from 'node:timers';
import { Publisher } from '../dist/native/publisher/publisher.js';

const [contextId, objects, kind, variables = '1'] = process.argv.slice(2);
const ROOT = 'bench-host.1.bench';
const publisher = new Publisher({
  failIfBusy: true,
  contextId,
  serverKey: '1',
  pid: process.pid,
  realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
  heartbeatMs: 0,
  capacity: { records: 1 << 21, slots: 1 << 21, stringBytes: 1 << 27 },
});
const root = publisher.addRoot(ROOT, 'Bench');
let last = 0;
function add(parent, parentId = ROOT) {
  const object = publisher.addObject(parent, `${parentId}.client.${last++}`, 'Client');
  for (let i = 0; i < Number(variables); i++)
    publisher.addVariable(object, `bytesSent${i}`, 'u64').set(last);
  return object;
}

const HALF = `${ROOT}.half`;
const half = publisher.addObject(root, HALF, 'Half');
const live = [];
for (let i = 0; i < Number(objects); i++) {
  const isHalf = kind === 'halved' && i % 2 === 0;
  const object = isHalf ? add(half, HALF) : add(root);
  if (!isHalf) live.push(object);
}
publisher.place();

/** Adds and removes `perSecond` objects each second, in steps of 10 ms. Removes the oldest object first. */
function churn(perSecond) {
  let at = 0;
  setInterval(() => {
    for (let i = 0; i < perSecond / 100; i++) {
      live.push(add(root));
      publisher.removeObject(live[at++]);
    }
    publisher.notify();
  }, 10);
}

process.on('message', (told) => {
  if (told.churn !== undefined) churn(told.churn);
  if (told.removeHalf === true) {
    publisher.removeObject(half);
    publisher.notify();
  }
});
process.on('disconnect', () => {
  publisher.close();
  process.exit(0);
});
process.send({ done: true });
