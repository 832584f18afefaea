// Tests identityOf: the identity of a root, from its record or from its id.
import { expect } from 'chai';
import { identityOf } from '#app/streams/choose-root.js';
import { root } from '../support/poll-results.js';

describe('the identity of a root', () => {
  const table = [
    ['H.1.ads', {}, ['H', '1', 'ads']],
    ['lseg1.bgp59.com.7.ads', {}, ['lseg1.bgp59.com', '7', 'ads']],
    ['1.ads', {}, ['', '1', 'ads']],
    ['ads', {}, ['', '', 'ads']],
    ['', {}, ['', '', '']],
    ['H.1.ads', { host: 'G' }, ['G', '1', 'ads']],
    ['H.1.ads', { instance: '5' }, ['H', '5', 'ads']],
    ['H.1.ads', { application: 'adh' }, ['H', '1', 'adh']],
  ] as const;
  for (const [name, stated, [host, instance, application]] of table)
    it(`is host "${host}", instance "${instance}", application "${application}" for the id "${name}" and the stated values ${JSON.stringify(stated)}`, () =>
      expect(identityOf(root(name, stated))).to.deep.equal({ host, instance, application }));
});
