import { expect } from 'chai';
import fc from 'fast-check';
import {
  compilePathPattern,
  compileVariablePattern,
  patternsOverlap,
} from '#app/catalogue/match/patterns.js';
import { Fault } from '#app/errors.js';
import { anyCharacter } from '../../support/any-character.js';

describe('the path pattern', () => {
  const matches = [
    ['@root', '', {}],
    ['userDatabase', 'userDatabase', {}],
    ['userDatabase.{mount~mount[0-9]+}', 'userDatabase.mount12', { mount: 'mount12' }],
    [
      'sink.server.{transport}.transmissionBus',
      'sink.server.ripc.transmissionBus',
      { transport: 'ripc' },
    ],
    [
      '{thread~[0-9]+}.rrcpTransport.{transport}',
      '0.rrcpTransport.1',
      { thread: '0', transport: '1' },
    ],
    ['itemDatabase.{service}', 'itemDatabase.# managed objs', { service: '# managed objs' }],
    ['itemDatabase.{service}', 'itemDatabase.', { service: '' }],
    ['rrcpTransport.', 'rrcpTransport.', {}],
    ['32PingInterval', '32PingInterval', {}],
    ['a.{label~x[a-c]*y?}', 'a.xabc', { label: 'xabc' }],
    ['a.{label~[^0-9]+}', 'a.b-c d', { label: 'b-c d' }],
  ] as const;
  for (const [pattern, path, labels] of matches)
    it(`"${pattern}" matches ${path === '' ? 'the root' : JSON.stringify(path)}`, () =>
      expect(compilePathPattern(pattern).match(path)).to.deep.equal(labels));

  const leaves = [
    ['@root', 'admin'],
    ['userDatabase', ''],
    ['userDatabase', 'userDatabase.mount1'],
    ['userDatabase', 'userDatabas'],
    ['userDatabase.{mount~mount[0-9]+}', 'userDatabase.mount'],
    ['userDatabase.{mount~mount[0-9]+}', 'userDatabase.mount1x'],
    ['userDatabase.{mount~mount[0-9]+}', 'userDatabase.xmount1'],
    ['userDatabase.{mount~mount[0-9]+}', 'userDatabase.mount1\n'],
    ['userDatabase.{mount~mount[0-9]+}', 'userDatabase.'],
    ['itemDatabase.{service}', 'itemDatabase'],
    ['itemDatabase.{service}', 'itemDatabase.A.B'],
    ['a.{label~b+}', `a.${'b'.repeat(257)}`],
  ] as const;
  for (const [pattern, path] of leaves)
    it(`"${pattern}" does not match ${path === '' ? 'the root' : JSON.stringify(path.slice(0, 40))}`, () =>
      expect(compilePathPattern(pattern).match(path)).to.equal(undefined));

  const refused = [
    ['', 'the path is empty'],
    ['a.{b', 'stray brace'],
    ['a.x{b}', 'stray brace'],
    ['a.{}', '"" is not a label name'],
    ['a.{9b}', '"9b" is not a label name'],
    ['a.{job}', '"job" is a reserved label'],
    ['a.{__name__}', 'must not begin with __'],
    ['a.{b}.{b}', 'the same label twice'],
    ['a.{b~(x+)+}', 'not a valid expression'],
    ['a.{b~x|y}', 'not a valid expression'],
    ['a.{b~a+b+c+}', 'at most 2 of + * ?'],
    ['a.{b~[z-a]}', 'a range in descending order'],
    ['a.{b~}', 'not a valid expression'],
  ] as const;
  for (const [pattern, message] of refused)
    it(`"${pattern}" is refused: ${message}`, () =>
      expect(() => compilePathPattern(pattern)).to.throw(Fault, message));

  it('throws no error for any seed path', () => {
    const patterns = matches.map(([pattern]) => compilePathPattern(pattern));
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (path) => {
        for (const pattern of patterns) pattern.match(path);
      }),
    );
  });

  it('returns every captured segment', () => {
    const segment = fc.string({ unit: anyCharacter }).map((text) => text.replaceAll('.', '_'));
    fc.assert(
      fc.property(segment, segment, (one, two) => {
        const labels = compilePathPattern('a.{one}.b.{two}').match(`a.${one}.b.${two}`);
        expect(labels).to.deep.equal({ one, two });
      }),
    );
  });

  it('"{a~[0-9]+[0-9]+}" rejects a pathological segment within the time limit of a test', () => {
    const pattern = compilePathPattern('{a~[0-9]+[0-9]+}');
    expect(pattern.match(`${'1'.repeat(255)}x`)).to.equal(undefined);
  });
});

describe('patternsOverlap', () => {
  const rows = [
    ['a.{b}', 'a.c', true],
    ['a.{b}', 'a.{c}', true],
    ['a.{b~[0-9]+}', 'a.7', true],
    ['a.{b~[0-9]+}', 'a.c', false],
    ['a.b', 'a.c', false],
    ['a', 'a.b', false],
    ['@root', '@root', true],
    ['@root', 'a', false],
  ] as const;
  for (const [one, other, wanted] of rows)
    it(`is ${String(wanted)} for ${one} and ${other}`, () => {
      const [first, second] = [compilePathPattern(one), compilePathPattern(other)];
      expect(patternsOverlap(first, second)).to.equal(wanted);
      expect(patternsOverlap(second, first)).to.equal(wanted);
    });
});

describe('the variable pattern', () => {
  const rows = [
    ['bytesSent.{port}', 'bytesSent.14002', '14002'],
    ['bytesSent.{port}', 'bytesSent.14002.udp', '14002.udp'],
    ['bytesSent.{port}', 'bytesSent.# x', '# x'],
    ['bytesSent.{port}', 'bytesSent.', undefined],
    ['bytesSent.{port}', 'bytesSent', undefined],
    ['bytesSent.{port}', 'bytesReceived.14002', undefined],
    ['bytesSent.{port~[0-9]+}', 'bytesSent.14002', '14002'],
    ['bytesSent.{port~[0-9]+}', 'bytesSent.all', undefined],
    ['32{what}Interval', '32PingInterval', 'Ping'],
    ['a{x}a', 'aa', undefined],
    ['a{x}a', 'aaa', 'a'],
  ] as const;
  for (const [pattern, name, wanted] of rows)
    it(`"${pattern}" ${wanted === undefined ? 'does not match' : `captures "${wanted}" from`} ${JSON.stringify(name)}`, () =>
      expect(compileVariablePattern(pattern)?.capture(name)).to.equal(wanted));

  for (const name of ['# managed objs', 'bytesSent.14002', '32PingInterval', 'a*b'])
    it(`does not exist for the plain name "${name}"`, () =>
      expect(compileVariablePattern(name)).to.equal(undefined));

  for (const [pattern, message] of [
    ['a.{b}.{c}', 'exactly one {label}'],
    ['a.{b', 'exactly one {label}'],
    ['a.{le}', 'reserved label'],
    ['a.{b~(c)}', 'not a valid expression'],
  ] as const)
    it(`"${pattern}" is refused: ${message}`, () =>
      expect(() => compileVariablePattern(pattern)).to.throw(Fault, message));
});
