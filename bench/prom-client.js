// Serves the series of the workload from prom-client's registry, as its documentation shows.
import { createServer } from 'node:http';
import { Counter, Gauge, Registry } from 'prom-client';
import { FAMILIES, Values, entityLabels, kindOf, nameOf } from './workload.js';

const values = new Values(Number(process.argv[2]));
const registry = new Registry();
const labels = Array.from({ length: values.entities }, (_, entity) => entityLabels(entity));
const metrics = Array.from({ length: FAMILIES }, (_, family) => {
  const options = {
    name: nameOf(family),
    help: 'A family of the workload.',
    labelNames: ['host', 'client', 'service'],
    registers: [registry],
  };
  return kindOf(family) === 'counter' ? new Counter(options) : new Gauge(options);
});
const shown = new Float64Array(values.all.length);
const store = (index, value) => {
  const family = Math.floor(index / values.entities);
  const own = labels[index % values.entities];
  if (kindOf(family) === 'counter') metrics[family].inc(own, value - shown[index]);
  else metrics[family].set(own, value);
  shown[index] = value;
};
values.all.forEach((value, index) => store(index, value));

const server = createServer(async (request, response) => {
  response.setHeader('Content-Type', registry.contentType);
  response.end(await registry.metrics());
});
process.on('message', ({ change }) => {
  if (change !== undefined) values.change(change, store);
  process.send({ done: true });
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send({ done: true, port: server.address().port }));
