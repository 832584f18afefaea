// A real publisher process, which stores the workload's values in a segment on command.
import { Publisher } from '../dist/native/publisher/publisher.js';
import { FAMILIES, Values, entityLabels, kindOf, nameOf } from './workload.js';

const [contextId, series, serverKey = '1'] = process.argv.slice(2);
const values = new Values(Number(series));
const publisher = new Publisher({
  failIfBusy: true,
  contextId,
  serverKey,
  pid: process.pid,
  realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
  heartbeatMs: 0,
  capacity: { records: 1 << 21, slots: 1 << 21, stringBytes: 1 << 27 },
});
const root = publisher.addRoot('bench-host.1.bench', 'Bench');
const handles = new Array(values.all.length);
for (let entity = 0; entity < values.entities; entity++) {
  // Here a seed path has one segment per label. Dots separate segments, so replace the dots in labels by underscores.
  const path = Object.values(entityLabels(entity))
    .map((text) => text.replaceAll('.', '_'))
    .join('.');
  const object = publisher.addObject(
    root,
    `${root === undefined ? '' : 'bench-host.1.bench'}.fleet.${path}`,
    'Client',
  );
  for (let family = 0; family < FAMILIES; family++) {
    const index = family * values.entities + entity;
    const type = kindOf(family) === 'counter' ? 'u64' : 'f64';
    handles[index] = publisher.addVariable(object, nameOf(family), type);
    handles[index].set(values.all[index]);
  }
}
publisher.place();
process.on('message', ({ change, truth }) => {
  if (change !== undefined) values.change(change, (index, value) => handles[index].set(value));
  process.send({ done: true, ...(truth && { truth: [...values.all] }) });
});
process.on('disconnect', () => {
  publisher.close();
  process.exit(0);
});
process.send({ done: true });
