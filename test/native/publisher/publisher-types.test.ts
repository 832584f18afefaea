// The publisher as a program of somebody else's imports it, in a folder apart.
import { expect } from 'chai';
import { mkdirSync, symlinkSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT } from '../../support/processes.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** Nothing of Node: only what browsers have too, such as timers. */
const COMPILER = {
  ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom'], types: [] },
  ...{ strict: true, noEmit: true, skipLibCheck: false, preserveSymlinks: true },
};

const PROGRAM = `import { Publisher } from 'shm-exporter/publisher';
const publisher = new Publisher({ serverKey: '1' });
const root = publisher.addRoot('localhost.1.shop', 'Shop');
const till = publisher.addObject(root, 'localhost.1.shop.till', 'Till');
publisher.addVariable(till, 'sales', 'u64', { kind: 'counter' }).set(1);
publisher.addVariable(till, 'delay', 'histogram', { schema: [1] }).observe(0.5);
publisher.place();
publisher.notify();
publisher.close();
// @ts-expect-error: a number has no observations
publisher.addVariable(till, 'wrong', 'u64').observe(1);
`;

describe('the publisher package', function () {
  this.slow(10_000);
  const folder = temporaryFolder();

  /** What the compiler says of a program that uses the package, without the types of Node. */
  function compile(program: string): string {
    mkdirSync(folder.path('node_modules'));
    symlinkSync(PROJECT, folder.path('node_modules/shm-exporter'));
    folder.write('program.mts', program);
    const config = { compilerOptions: COMPILER, files: ['program.mts'] };
    folder.write('tsconfig.json', JSON.stringify(config));
    const tsc = join(PROJECT, 'node_modules/.bin/tsc');
    return spawnSync(tsc, ['-p', folder.path()], { encoding: 'utf8' }).stdout;
  }

  it('compiles in a program without @types/node, and tells a wrong type', () =>
    expect(compile(PROGRAM)).to.equal(''));
});
