// A large tree in a process of its own: served as JSON over HTTP, or stored directly in a segment.
// Arguments: served OBJECTS VARIABLES [tls], or published OBJECTS VARIABLES CONTEXT_ID SERVER_KEY
import { readFileSync } from 'node:fs';
import { Publisher } from '../dist/native/publisher/publisher.js';
import { ComponentServer } from '../dist/simulator/component/component-server.js';
import { ServedTree } from '../dist/simulator/component/served-tree.js';
import { ComponentTree } from './component-tree.js';

const [kind, objects, variables, ...rest] = process.argv.slice(2);
const certificates = new URL('../test/support/tls/', import.meta.url);

async function serve(isSecure) {
  const pem = (name) => readFileSync(new URL(`component.${name}.pem`, certificates), 'utf8');
  const tls = isSecure ? { cert: pem('cert'), key: pem('key') } : undefined;
  const served = new ServedTree();
  const tree = new ComponentTree(served, Number(objects), Number(variables));
  const server = new ComponentServer(served, { tls });
  await server.listen(0);
  return { tree, url: server.url, close: () => server.close() };
}

function publish(contextId, serverKey) {
  const publisher = new Publisher({
    failIfBusy: true,
    ...{ contextId, serverKey, pid: process.pid, heartbeatMs: 0 },
    realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
    capacity: { records: 1 << 21, slots: 1 << 21, stringBytes: 1 << 26, frameBytes: 1 << 26 },
  });
  const tree = new ComponentTree(publisher, Number(objects), Number(variables));
  publisher.place();
  return { tree, url: undefined, close: () => publisher.close() };
}

const { tree, url, close } = kind === 'served' ? await serve(rest[0] === 'tls') : publish(...rest);
process.on('message', () => {
  tree.step();
  process.send({});
});
process.on('disconnect', () => {
  void Promise.resolve(close()).then(() => process.exit(0));
});
process.send({ url });
