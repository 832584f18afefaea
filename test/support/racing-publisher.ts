// A process that builds a segment, places it under its final name on command, and reports the result.
// Arguments: context id, server key. Runs until it is killed or its parent ends.
import process from 'node:process';
import { Fault } from '#app/errors.js';
import { Publisher } from '#app/native/publisher/publisher.js';

const [contextId = '', serverKey = ''] = process.argv.slice(2);
const realtimeNs = () => BigInt(Date.now()) * 1_000_000n;
const publisher = new Publisher({
  failIfBusy: true,
  contextId,
  serverKey,
  pid: process.pid,
  realtimeNs,
});
publisher.addRoot('h.1.ads', 'Ads');
process.send?.('ready');

process.on('message', () => {
  try {
    publisher.place();
    process.send?.('placed');
  } catch (error) {
    const message = error instanceof Fault ? `${error.code}: ${error.message}` : String(error);
    process.send?.(message);
  }
});
process.on('disconnect', () => process.exit());
