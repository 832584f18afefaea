// What the build makes of private names in the programs that it bundles.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';

const TEXT = `
class Base {
  #count = 1;
  static #made = 0;
  get #twice() { return this.#count * 2; }
  #add(by) { this.#count += by; return this; }
  grow() { Base.#made++; return this.#add(2).#twice; }
  static get made() { return Base.#made; }
}
class Derived extends Base {
  #count = 100;
  grow() { return \`#count \${this.#count + super.grow()}\`; }
}
const grown = [new Base().grow(), new Derived().grow(), Base.made];
`;

/** The text as the build has it, and what \`grown\` is then; or why the build ends. */
function built(text: string) {
  const script = `
    import { withPlainNames } from './scripts/plain-names.js';
    const [, text] = process.argv;
    const plain = withPlainNames('module.js', text);
    console.log(JSON.stringify({ plain, grown: new Function(plain + 'return grown')() }));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', script, text],
    { encoding: 'utf8' },
  );
  if (stdout === '') return { plain: '', grown: [], why: /Error: (.*)/.exec(stderr)?.[1] };
  return { ...(JSON.parse(stdout) as { plain: string; grown: unknown[] }), why: undefined };
}

describe('scripts/plain-names.js', () => {
  it('makes private names plain ones, apart in a class that extends another', () => {
    const { plain, grown } = built(TEXT);
    expect(grown).to.deep.equal([6, '#count 106', 2]);
    expect(plain).to.not.match(/[.\s]#(?!count \$)/);
    expect(plain).to.contain('this._count_Derived');
  });

  it('refuses a name that is taken', () =>
    expect(built(`${TEXT} const _made = 1;`).why).to.equal('module.js has _made already'));

  it('refuses a class that extends another and has no name', () =>
    expect(built('const A = class extends Object { #a = 1; };').why).to.contain('has no name'));

  it('refuses to ask an object for a private name', () =>
    expect(built('class A { #a; static is(it) { return #a in it; } }').why).to.contain('#a'));
});
