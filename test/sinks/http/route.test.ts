// Routing: the target that a scrape selects. Spec 4.3 and 7.
import { expect } from 'chai';
import { route } from '#app/sinks/http/route.js';
import { FakeTarget } from '../../support/fake-target.js';

describe('route (spec 4.3)', () => {
  const one = [new FakeTarget('ads', ['82'], 'H.1.ads')];
  const several = [
    new FakeTarget('ads', ['82'], 'H.1.ads'),
    new FakeTarget('adh', ['80'], 'H.1.adh'),
    new FakeTarget('ads', ['456'], 'H.1.ads'),
    new FakeTarget('ads', ['7'], 'H.2.ads'),
    new FakeTarget('ats', ['7'], 'H.2.ats'),
    new FakeTarget('ads', ['90', '91'], ''),
  ];
  const routed = (targets: readonly FakeTarget[], query: string): string => {
    const result = route(targets, new URLSearchParams(query));
    return result.kind === 'target'
      ? `${result.target.app} ${result.target.serverKeys.join('+')}`
      : String(result.status);
  };

  const table: readonly (readonly [string, readonly FakeTarget[], string, string])[] = [
    ['4.3.1 one target needs no parameters', one, '', 'ads 82'],
    ['one target may be named', one, 'server_key=82', 'ads 82'],
    ['one target is not another', one, 'server_key=83', '404'],
    ['one target by app and instance', one, 'app=ads&instance=H.1.ads', 'ads 82'],
    ['app alone is not enough, even for one target', one, 'app=ads', '400'],
    ['4.3.2 several targets need parameters', several, '', '400'],
    ['4.3.3 server_key alone selects', several, 'server_key=80', 'adh 80'],
    ['a server_key that two targets share needs more', several, 'server_key=7', '400'],
    ['app tells those apart', several, 'server_key=7&app=ats', 'ats 7'],
    ['instance tells those apart', several, 'server_key=7&instance=H.2.ads', 'ads 7'],
    ['4.3.4 app and instance select', several, 'app=adh&instance=H.1.adh', 'adh 80'],
    ['app without instance', several, 'app=adh', '400'],
    ['instance without app', several, 'instance=H.1.adh', '400'],
    ['4.3.5 app and instance that two share', several, 'app=ads&instance=H.1.ads', '400'],
    [
      '4.3.5 server_key tells those apart',
      several,
      'app=ads&instance=H.1.ads&server_key=456',
      'ads 456',
    ],
    ['all must fit', several, 'app=adh&instance=H.1.adh&server_key=82', '404'],
    ['an app that none has', several, 'app=xyz&instance=H.1.ads', '404'],
    ['an instance that none has', several, 'app=ads&instance=H.9.ads', '404'],
    ['an instance number is no resolved root', several, 'app=adh&instance=1', '404'],
    ['any of its keys until a root is chosen', several, 'server_key=91', 'ads 90+91'],
    ['an empty key', several, 'server_key=', '404'],
    ['unknown parameters are ignored', several, 'server_key=80&x=1&x=2&y', 'adh 80'],
    ['4.3.1 unknown parameters do not route', one, 'x=1', 'ads 82'],
    ['server_key twice', several, 'server_key=80&server_key=80', '400'],
    ['app twice', several, 'app=adh&app=adh&instance=H.1.adh', '400'],
    ['instance twice', several, 'app=adh&instance=H.1.adh&instance=x', '400'],
    ['names are exact', several, 'Server_Key=80', '400'],
    ['values are decoded', [new FakeTarget('ads', ['a b'])], 'server_key=a+b', 'ads a b'],
  ];
  for (const [sentence, targets, query, wanted] of table)
    it(`${sentence}: ?${query} gives ${wanted}`, () => {
      expect(routed(targets, query)).to.equal(wanted);
    });

  it('matches only the server key of the selected root once a root is selected', () => {
    const target = new FakeTarget('ads', ['82', '456'], 'H.1.ads');
    expect(routed([target], 'server_key=456')).to.equal('404');
    target.root = '';
    expect(routed([target], 'server_key=456')).to.equal('ads 82+456');
  });

  it('matches app and instance by a lost root, and by the hint before the first root', () => {
    const lost = new FakeTarget('ads', ['82'], 'H.1.ads');
    lost.root = '';
    const hinted = Object.assign(new FakeTarget('adh', ['80'], ''), { instance: 'H.1.adh' });
    const numbered = Object.assign(new FakeTarget('ats', ['81'], ''), { instance: '3' });
    const all = [lost, hinted, numbered, new FakeTarget('demo', ['83'], '')];
    expect(routed(all, 'app=ads&instance=H.1.ads')).to.equal('ads 82');
    expect(routed(all, 'app=adh&instance=H.1.adh')).to.equal('adh 80');
    expect(routed(all, 'app=ats&instance=3')).to.equal('ats 81');
    expect(routed(all, 'app=ats&instance=H.3.ats'), 'its host is not known').to.equal('404');
    expect(routed(all, 'app=demo&instance='), 'nothing is known of it').to.equal('404');
    numbered.root = 'H.3.ats';
    expect(routed(all, 'app=ats&instance=3')).to.equal('404');
    expect(routed(all, 'app=ats&instance=H.3.ats')).to.equal('ats 81');
  });

  const NONE =
    'no target matches the routing parameters, allowed: server_key=82, server_key=80, ' +
    'server_key=456, server_key=7&app=ads, server_key=7&app=ats, server_key=90';
  const texts = [
    [several, '', 'several targets are configured: add server_key, or app and instance'],
    [several, 'app=ads', 'app and instance select a target only together; or use server_key'],
    [several, 'app=ads&instance=H.1.ads', 'several targets share app and instance: add server_key'],
    [several, 'server_key=7', 'several targets share this server_key: add app and instance'],
    [several, 'server_key=1', NONE],
    [several, 'app=a&app=b', 'parameter app is given more than once'],
  ] as const;
  for (const [targets, query, text] of texts)
    it(`rejects ?${query} with: ${text}`, () => {
      expect(route(targets, new URLSearchParams(query))).to.deep.include({ kind: 'refused', text });
    });

  const REQUIRED =
    'scope selected, but target routing still required when multiple targets are configured';
  const scoped: readonly (readonly [string, readonly FakeTarget[], string, string, string])[] = [
    ['the query alone', one, 'scope=a', '', 'a'],
    ['the path alone', one, '', 'a', 'a'],
    ['both alike', one, 'scope=a', 'a', 'a'],
    ['an empty one', one, 'scope=', '', ''],
    ['two in the query', one, 'scope=a&scope=a', '', 'parameter scope is given more than once'],
    ['different ones', one, 'scope=a', 'b', 'the path asks for scope "b", the query for "a"'],
    [
      'an empty one beside another',
      one,
      'scope=',
      'b',
      'the path asks for scope "b", the query for ""',
    ],
    ['spec 7.1 no routing', several, '', 'a', REQUIRED],
    ['spec 7.1 app alone', several, 'app=adh&scope=a', '', REQUIRED],
    ['spec 7.1 instance alone', several, 'instance=H.1.adh', 'a', REQUIRED],
    [
      'spec 7.1 app and instance that two share',
      several,
      'app=ads&instance=H.1.ads',
      'a',
      REQUIRED,
    ],
    ['spec 7.1 a server_key that two share', several, 'server_key=7', 'a', REQUIRED],
    ['enough routing', several, 'server_key=80', 'a', 'a'],
    ['a target that is not there', several, 'server_key=1', 'a', NONE],
    [
      'app alone for one target',
      one,
      'app=ads',
      'a',
      'app and instance select a target only together; or use server_key',
    ],
  ];
  for (const [sentence, targets, query, inPath, wanted] of scoped)
    it(`a scope by ${sentence}: ?${query} gives ${wanted}`, () => {
      const result = route(targets, new URLSearchParams(query), ...(inPath === '' ? [] : [inPath]));
      expect(result.kind === 'target' ? result.scope : result.text).to.equal(wanted);
    });
});
