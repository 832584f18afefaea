// Tests that each operator of src/streams has a test in which the consumer unsubscribes during an emission.
import { readFileSync, readdirSync } from 'node:fs';
import { expect } from 'chai';

describe('the tests of the operators in src/streams', () => {
  const textsOf = (folder: string) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => ({ file, text: readFileSync(`${folder}/${file}`, 'utf8') }));

  it('cover a consumer that unsubscribes during the second emission', () => {
    const asking = textsOf('test/streams').filter(({ text }) =>
      text.includes("'stops when the consumer unsubscribes during the second emission'"),
    );
    const isAsked = (file: string) =>
      asking.some(({ text }) => text.includes(`'#app/streams/${file.replace('.ts', '.js')}'`));
    // Files with a function or method that returns an Observable or an operator.
    const operators = textsOf('src/streams').filter(({ text }) =>
      /\): (Observable|OperatorFunction)<.*(\{|=>)$/m.test(text),
    );
    expect(operators.map(({ file }) => file)).to.include.members([
      'poller-pool.ts',
      'scheduler.ts',
    ]);
    expect(operators.map(({ file }) => file).filter((file) => !isAsked(file))).to.deep.equal([]);
  });
});
