// V8 compiles for speed what runs for long, and not what a scrape calls now and then.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';

const BRANCHES = Array.from({ length: 40 }, (_, i) => `if (n === ${i}) sum += n * ${i};`).join('');

/** Enough calls to be compiled by default, and too few to be compiled late: those of V8 13 are compiled twice, first sooner. */
const SOME_CALLS = parseInt(process.versions.v8) < 13 ? 4000 : 2000;

/** Calls a function of average length so often. */
const calling = (times: number, before: string): string => `
  ${before}
  function called(n) { let sum = n; ${BRANCHES} return sum; }
  let all = 0;
  for (let i = 0; i < ${times}; i++) all += called(i);
`;

/** How often V8 decided to compile that function for speed, and what else was printed. */
function compiled(times: number, before = ''): { readonly marks: number; readonly errors: string } {
  const line = ['--trace-opt', '--input-type=module', '--eval', calling(times, before)];
  const { stdout, stderr } = spawnSync(process.execPath, line, { encoding: 'utf8' });
  return { marks: stdout.match(/\[marking .*<JSFunction called/g)?.length ?? 0, errors: stderr };
}

describe('compileLate', () => {
  const module = JSON.stringify(import.meta.resolve('#app/exporter/compile-late.js'));
  const lateFor = (v8: string) =>
    `const { LATE, compileLate } = await import(${module}); compileLate(${JSON.stringify(v8)}, LATE.serving);`;
  const late = lateFor(process.versions.v8);

  it('leaves a function that is called some thousand times as it is', () => {
    expect(compiled(SOME_CALLS, late)).to.deep.equal({ marks: 0, errors: '' });
    expect(compiled(SOME_CALLS).marks, 'by itself').to.be.above(0);
  });

  it('has what is called often compiled for speed', () =>
    expect(compiled(500_000, late).marks).to.be.above(0));

  it('leaves a V8 that it does not know as it is, and says nothing', () => {
    const { marks, errors } = compiled(SOME_CALLS, lateFor('99.1.2'));
    expect(marks).to.be.above(0);
    expect(errors).to.equal('');
  });
});
