// The publisher as a program of somebody else's imports it: the code of its page, in a folder apart.
import { expect } from 'chai';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT } from '../../support/processes.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** Nothing of Node: only what browsers have too, such as timers. */
const COMPILER = {
  ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom'], types: [] },
  ...{ strict: true, noEmit: true, skipLibCheck: false, preserveSymlinks: true },
};

const page = readFileSync(join(PROJECT, 'docs/publish-typescript.md'), 'utf8');
const code = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block = '']) => block).join('\n');

describe('the publisher package', function () {
  this.slow(10_000);
  this.timeout(60_000);
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

  it('compiles the code of its page without @types/node, and tells a wrong type', () => {
    expect(code.split('\n').length, 'lines of code').to.be.above(20);
    const wrong =
      "// @ts-expect-error: a number has no observations\nadd(till, 'wrong', 'u64').observe(1);";
    expect(compile(`${code}\n${wrong}\n`)).to.equal('');
  });
});
