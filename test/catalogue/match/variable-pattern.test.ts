import { expect } from 'chai';
import { compileVariablePattern } from '#app/catalogue/match/patterns.js';
import { Fault } from '#app/errors.js';

describe('variable patterns', () => {
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
    it(`${pattern} takes ${wanted ?? 'nothing'} from ${name}`, () =>
      expect(compileVariablePattern(pattern)?.capture(name)).to.equal(wanted));

  for (const name of ['# managed objs', 'bytesSent.14002', '32PingInterval', 'a*b'])
    it(`${name} is a plain name`, () => expect(compileVariablePattern(name)).to.equal(undefined));

  for (const [pattern, message] of [
    ['a.{b}.{c}', 'exactly one {label}'],
    ['a.{b', 'exactly one {label}'],
    ['a.{le}', 'reserved label'],
    ['a.{b~(c)}', 'not an expression'],
  ] as const)
    it(`${pattern} is refused: ${message}`, () =>
      expect(() => compileVariablePattern(pattern)).to.throw(Fault, message));
});
