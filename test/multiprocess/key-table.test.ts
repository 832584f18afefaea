// Tests the bounds of the table of keys.
import { expect } from 'chai';
import { KeyTable } from '#app/multiprocess/key-table.js';
import { pythonKey } from './metric-bytes.js';

const add = (table: KeyTable, text: string) => {
  const bytes = Buffer.from(text);
  return table.add(bytes, 0, bytes.length);
};

describe('The table of keys', () => {
  it('refuses a key that is very long', () => {
    const key = add(new KeyTable(), pythonKey('a', 'a', {}, 'x'.repeat(70_000)));
    expect(key).to.match(/^has \d+ bytes, allowed: at most 65536$/);
  });

  it('refuses new keys beyond its bytes, until others are removed', () => {
    const [one, other] = [pythonKey('one'), pythonKey('two')];
    const table = new KeyTable(one.length + other.length - 1);
    const first = add(table, one);
    expect(add(table, one)).to.equal(first);
    expect(add(table, other)).to.equal('would exceed the bytes of keys that a target may have');
    if (typeof first === 'string') throw new Error(first);
    table.remove(first);
    table.remove(first);
    expect(add(table, other)).to.include({ text: other });
  });
});
