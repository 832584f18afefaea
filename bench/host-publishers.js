// Publishes many small targets and one large target with the same series, for the benchmark of the host page. The
// server keys are part0, part1, … and whole. Usage: host-publishers.js CONTEXT TARGETS FAMILIES LINES
import { Publisher } from '../dist/native/publisher/publisher.js';
import { entityLabels, generator, nameOf } from './workload.js';

const [contextId, ...sizes] = process.argv.slice(2);
const [targets, families, lines] = sizes.map(Number);
const random = generator(1);

/** Publishes `families` variables in each of `lines` objects, and returns the functions that set the variables. */
function publish(serverKey, firstEntity, count) {
  const slots = families * count;
  const publisher = new Publisher({
    ...{ failIfBusy: true, contextId, serverKey, pid: process.pid, heartbeatMs: 0 },
    realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
    capacity: { records: slots * 4 + 64, slots: slots * 2 + 64, stringBytes: slots * 256 + 65536 },
  });
  const name = `bench-host.${serverKey}.bench`;
  const root = publisher.addRoot(name, 'Bench');
  const variables = [];
  for (let entity = firstEntity; entity < firstEntity + count; entity++) {
    const path = Object.values(entityLabels(entity))
      .map((text) => text.replaceAll('.', '_'))
      .join('.');
    const object = publisher.addObject(root, `${name}.fleet.${path}`, 'Client');
    for (let family = 0; family < families; family++) {
      const variable = publisher.addVariable(object, nameOf(family), 'f64');
      variable.set(random() * 1000);
      variables.push(variable);
    }
  }
  publisher.place();
  return { publisher, variables };
}

const parts = Array.from({ length: targets }, (_, part) =>
  publish(`part${part}`, part * lines, lines),
);
const whole = publish('whole', 0, targets * lines);
process.on('message', ({ share, count }) => {
  // The first series of `whole` are those of the first targets.
  parts.slice(0, count).forEach(({ variables }, part) => {
    variables.forEach((variable, index) => {
      if (share < 1 && random() >= share) return;
      const value = random() * 1000;
      variable.set(value);
      whole.variables[part * variables.length + index].set(value);
    });
  });
  process.send('changed');
});
process.on('disconnect', () => {
  for (const { publisher } of [...parts, whole]) publisher.close();
  process.exit(0);
});
process.send('published');
