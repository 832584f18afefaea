// Tests which keys of entries are valid, and what they state.
import { expect } from 'chai';
import fc from 'fast-check';
import { parseKey } from '#app/multiprocess/entry-key.js';
import { anyCharacter } from '../support/any-character.js';
import { pythonKey, rubyKey } from './metric-bytes.js';

const parsed = (key: string) => parseKey(Buffer.from(key));

describe('The key of an entry', () => {
  it('states family, name, labels and help in the Python dialect', () => {
    const key = '["req", "req_total", {"z": "1", "a": "x\\u00fc"}, "Requests"]';
    expect(parsed(key)).to.deep.equal({
      ...{ dialect: 'python', family: 'req', sample: 'req_total' },
      ...{ labels: { a: 'xü', z: '1' }, help: 'Requests' },
    });
  });

  it('has no help before version 0.16 of the Python library', () => {
    expect(parsed('["req", "req_total", {}]')).to.deep.include({
      labels: {},
      help: 'Multiprocess metric',
    });
  });

  it('has lists of names and values of labels in the Ruby dialect', () => {
    expect(parsed('["req_total","req_total",["b","a","n"],["1",null,2]]')).to.deep.equal({
      ...{ dialect: 'ruby', family: 'req_total', sample: 'req_total' },
      ...{ labels: { a: '', b: '1', n: '2' }, help: 'Multiprocess metric' },
    });
  });

  it('may have colons in the name of the metric', () => {
    expect(parsed(pythonKey('vllm:tokens'))).to.deep.include({ family: 'vllm:tokens' });
  });

  const invalid: Readonly<Record<string, RegExp>> = {
    '': /no JSON/,
    '[': /no JSON/,
    '{}': /no JSON array/,
    '[]': /metric name nothing/,
    '["a"]': /metric name nothing/,
    '[1,"a",{},""]': /metric name of the type number,/,
    '["a b","a",{},""]': /metric name "a b"/,
    '["a","a"]': /no labels/,
    '["a","a",null,""]': /no labels/,
    '["a","a",{},"",1]': /no labels/,
    '["a","a",{},1]': /help of the type number/,
    '["a","a",{"b":1},""]': /repeats a label, or has a value/,
    '["a","a",{"b":"1","b":"2"},""]': /repeats a label/,
    '["a","a",{"__name__":"b"},""]': /label name "__name__"/,
    '["a","a",{"b-c":"b"},""]': /label name "b-c"/,
    '["a","a",{"b":"\\ud800"},""]': /label value "\\ud800"/,
    '["a","a",{},"\\udfff"]': /help "\\udfff"/,
    '["a","a",["b"],[]]': /as many values/,
    '["a","a",["b","b"],["1","2"]]': /repeats the label b/,
    '["a","a",["b"],[{}]]': /label value of the type object/,
    '["a","a",[],[],"help"]': /as many values/,
  };
  for (const [key, fault] of Object.entries(invalid))
    it(`${key || 'without bytes'} is refused`, () => {
      expect(parsed(key)).to.match(fault);
    });

  it('is refused if it is no UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from('["a","a",{},"'), Buffer.of(0xff), Buffer.from('"]')]);
    expect(parseKey(bytes)).to.match(/UTF-8/);
  });

  it('is refused if it has a deep array in place of a text', () => {
    const deep = '['.repeat(9000) + ']'.repeat(9000);
    for (const key of [`[${deep},"a",{},""]`, `["a","a",{},${deep}]`, `["a","a",["b"],[${deep}]]`])
      expect(parsed(key)).to.match(/of the type array, allowed/);
  });

  it('is refused if it has very many labels', () => {
    const labels = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`l${at}`, 'x']));
    expect(parsed(pythonKey('a', 'a', labels))).to.match(/65 labels, allowed: at most 64/);
  });

  it('returns every valid name, label and help unchanged', () => {
    const name = fc.stringMatching(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,20}$/);
    const label = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,10}$/);
    const text = fc.string({ unit: anyCharacter });
    fc.assert(
      fc.property(name, name, fc.dictionary(label, text), text, (family, sample, own, help) => {
        const labels = { ...own };
        const python = parsed(pythonKey(family, sample, labels, help));
        expect(python).to.deep.equal({ dialect: 'python', family, sample, labels, help });
        const ruby = parsed(rubyKey(family, sample, labels));
        expect(ruby).to.deep.include({ dialect: 'ruby', family, sample, labels });
      }),
    );
  });
});
