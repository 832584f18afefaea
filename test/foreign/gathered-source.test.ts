import { expect } from 'chai';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { GatheredSource } from '#app/foreign/gathered-source.js';

const MODULE = import.meta.resolve('#app/foreign/gathered-source.js');
const TELLS_GENERATION = `
  const { parentPort } = require('node:worker_threads');
  import('${MODULE}').then(({ GatheredSource }) => parentPort.postMessage(new GatheredSource(8).generation));
`;

/** The generation of the first source that a new thread makes. */
const generationOfThread = (): Promise<unknown> =>
  once(new Worker(TELLS_GENERATION, { eval: true }), 'message').then((args: unknown[]) => args[0]);

describe('a gathered source', () => {
  it('has a generation of its own, whichever thread makes it', async () => {
    const made = [new GatheredSource(8).generation, new GatheredSource(8).generation];
    const generations = [...made, await generationOfThread(), await generationOfThread()];
    expect(new Set(generations).size).to.equal(generations.length);
  });
});
