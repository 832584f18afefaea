// A process that adds, removes and updates objects as fast as it can, for tests that kill it. Arguments:
// context id, server key. Each variable has its id in its name and in its values.
import process from 'node:process';
import { Publisher } from '#app/native/publisher/publisher.js';
import type { PublishedObject } from '#app/native/publisher/publisher-options.js';
import type { PublishedScalar, PublishedText } from '#app/native/publisher/published-values.js';

const [contextId = '', serverKey = ''] = process.argv.slice(2);
const realtimeNs = () => BigInt(Date.now()) * 1_000_000n;
const capacity = { records: 64, stringBytes: 4096, slots: 40, frameBytes: 4096 };
interface Client {
  readonly name: number;
  readonly object: PublishedObject;
  readonly value: PublishedScalar;
  readonly text: PublishedText;
}
function churnOn(): void {
  const publisher = new Publisher({ contextId, serverKey, capacity, pid: process.pid, realtimeNs });
  const root = publisher.addRoot('h.1.ads', 'Ads');
  const clients: Client[] = [];
  let name = 0;
  const churn = () => {
    name++;
    const object = publisher.addObject(root, `h.1.ads.${name}`, 'Client');
    const value = publisher.addVariable(object, `${name}`, 'u64');
    const text = publisher.addVariable(object, `${name}`, 'string');
    clients.push({ name, object, value, text });
    for (const client of clients) {
      client.value.set(client.name);
      client.text.set(`${client.name}`);
    }
    const [oldest] = clients;
    if (clients.length > 8 && oldest !== undefined) {
      publisher.removeObject(oldest.object);
      clients.shift();
    }
  };
  const work = () => {
    for (let round = 0; round < 500; round++) churn();
    publisher.notify();
    setImmediate(work);
  };
  churn();
  publisher.place();
  process.send?.('placed');
  work();
}

process.on('message', churnOn);
process.on('disconnect', () => process.exit());
process.send?.('ready');
