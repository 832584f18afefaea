// A publisher process with one object that has two variables of the same name. Argument: the context id.
import { Publisher } from '#app/native/publisher/publisher.js';

const [, , contextId = ''] = process.argv;
const publisher = new Publisher({
  contextId,
  serverKey: '7',
  pid: process.pid,
  realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
});
const root = publisher.addRoot('h.1.twice', 'Process');
publisher.addVariable(root, 'depth', 'u64', { kind: 'gauge' }).set(1);
const later = publisher.addVariable(root, 'depth', 'u64', { kind: 'gauge' });
later.set(2);
publisher.addVariable(root, 'other', 'u64', { kind: 'gauge' }).set(3);
publisher.place();
process.once('exit', () => {
  publisher.close();
});
process.once('SIGUSR2', () => {
  publisher.removeVariable(later);
  publisher.notify();
});
process.once('SIGTERM', () => process.exit(0));
setInterval(() => {
  publisher.beat();
}, publisher.heartbeatMs);
process.stderr.write('ready\n');
