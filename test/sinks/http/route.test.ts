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
  const found = (instance: string) => {
    const target = new FakeTarget('ads', ['82'], instance);
    target.isDiscovered = true;
    return target;
  };
  const discovered = [new FakeTarget('ads', ['82'], 'H.1.ads'), found('H.2.ads'), found('H.3.ads')];
  const routed = (targets: readonly FakeTarget[], query: string): string => {
    const result = route(targets, new URLSearchParams(query));
    return result.kind === 'target'
      ? `${result.target.app} ${result.target.serverKeys.join('+')}${result.target.isDiscovered ? '+discovered' : ''}`
      : String(result.status);
  };

  const shown = (query: string) => (query === '' ? 'an empty query' : `?${query}`);

  const table: readonly (readonly [string, readonly FakeTarget[], string, string])[] = [
    ['selects a single target without parameters (4.3.1)', one, '', 'ads 82'],
    ['selects a single target by server_key', one, 'server_key=82', 'ads 82'],
    ['rejects a server_key that a single target does not have', one, 'server_key=83', '404'],
    ['selects a single target by app and instance', one, 'app=ads&instance=H.1.ads', 'ads 82'],
    ['rejects app alone even for a single target', one, 'app=ads', '400'],
    ['requires parameters if there are several targets (4.3.2)', several, '', '400'],
    [
      'selects one of several targets by server_key alone (4.3.3)',
      several,
      'server_key=80',
      'adh 80',
    ],
    ['rejects server_key alone if two targets share the key', several, 'server_key=7', '400'],
    ['selects by app if two targets share server_key', several, 'server_key=7&app=ats', 'ats 7'],
    [
      'selects by instance if two targets share server_key',
      several,
      'server_key=7&instance=H.2.ads',
      'ads 7',
    ],
    [
      'selects one of several targets by app and instance (4.3.4)',
      several,
      'app=adh&instance=H.1.adh',
      'adh 80',
    ],
    ['rejects app without instance', several, 'app=adh', '400'],
    ['rejects instance without app', several, 'instance=H.1.adh', '400'],
    [
      'rejects app and instance if two targets share them (4.3.5)',
      several,
      'app=ads&instance=H.1.ads',
      '400',
    ],
    [
      'selects by server_key if two targets share app and instance (4.3.5)',
      several,
      'app=ads&instance=H.1.ads&server_key=456',
      'ads 456',
    ],
    [
      'selects the configured target if discovered ones share server_key',
      discovered,
      'server_key=82',
      'ads 82',
    ],
    [
      'selects a discovered target by its instance',
      discovered,
      'server_key=82&app=ads&instance=H.2.ads',
      'ads 82+discovered',
    ],
    [
      'rejects server_key alone if two discovered targets share it',
      discovered.slice(1),
      'server_key=82',
      '400',
    ],
    [
      'rejects parameters that fit different targets',
      several,
      'app=adh&instance=H.1.adh&server_key=82',
      '404',
    ],
    ['rejects an app that no target has', several, 'app=xyz&instance=H.1.ads', '404'],
    ['rejects an instance that no target has', several, 'app=ads&instance=H.9.ads', '404'],
    ['rejects an instance number in place of a root', several, 'app=adh&instance=1', '404'],
    [
      'selects by any server key of a target before a root is selected',
      several,
      'server_key=91',
      'ads 90+91',
    ],
    ['rejects an empty server_key', several, 'server_key=', '404'],
    ['ignores unknown parameters', several, 'server_key=80&x=1&x=2&y', 'adh 80'],
    ['selects a single target despite unknown parameters (4.3.1)', one, 'x=1', 'ads 82'],
    ['rejects a repeated server_key', several, 'server_key=80&server_key=80', '400'],
    ['rejects a repeated app', several, 'app=adh&app=adh&instance=H.1.adh', '400'],
    ['rejects a repeated instance', several, 'app=adh&instance=H.1.adh&instance=x', '400'],
    ['distinguishes upper and lower case in parameter names', several, 'Server_Key=80', '400'],
    ['decodes parameter values', [new FakeTarget('ads', ['a b'])], 'server_key=a+b', 'ads a b'],
  ];
  for (const [sentence, targets, query, wanted] of table)
    it(`${sentence}: ${shown(query)} gives ${+wanted ? 'status' : 'the target'} ${wanted}`, () => {
      expect(routed(targets, query)).to.equal(wanted);
    });

  it('suggests the right name of a misspelt parameter if the request is rejected', () => {
    const targets = [new FakeTarget('a', ['1']), new FakeTarget('b', ['2'])];
    const textFor = (query: string) => {
      const routed = route(targets, new URLSearchParams(query));
      return routed.kind === 'refused' ? routed.text : undefined;
    };
    for (const [query, hint] of [
      ['serverkey=1', '"serverkey" (did you mean "server_key"?)'],
      ['server-key=1', '"server-key" (did you mean "server_key"?)'],
      ['Server_Key=1', '"Server_Key" (did you mean "server_key"?)'],
      ['app=a&instanc=x', '"instanc" (did you mean "instance"?)'],
      ['server_key=9&ap=a', '"ap" (did you mean "app"?)'],
    ] as const)
      expect(textFor(query), query).to.contain(`; found ${hint}`);
    expect(textFor('collect%5B%5D=cpu')).to.match(/: add server_key, or app and instance$/);
    expect(textFor('server_key=1&serverkey=2&collect%5B%5D=cpu')).to.equal(undefined);
  });

  it('matches a target only by the server key of its root once a root is selected', () => {
    const target = new FakeTarget('ads', ['82', '456'], 'H.1.ads');
    expect(routed([target], 'server_key=456')).to.equal('404');
    target.root = '';
    expect(routed([target], 'server_key=456')).to.equal('ads 82+456');
  });

  it('compares app and instance with the last selected root, or with the configured instance if no root was selected yet', () => {
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
    [several, 'app=ads', 'app and instance must be given together; or use server_key'],
    [several, 'app=ads&instance=H.1.ads', 'several targets share app and instance: add server_key'],
    [several, 'server_key=7', 'several targets share this server_key: add app and instance'],
    [several, 'server_key=1', NONE],
    [several, 'app=a&app=b', 'parameter app is given more than once'],
  ] as const;
  for (const [targets, query, text] of texts)
    it(`rejects ${shown(query)} with the message: ${text}`, () => {
      expect(route(targets, new URLSearchParams(query))).to.deep.include({ kind: 'refused', text });
    });

  const REQUIRED =
    'scope selected, but target routing still required when multiple targets are configured';
  const scoped: readonly (readonly [string, readonly FakeTarget[], string, string, string])[] = [
    ['takes a scope from the query', one, 'scope=a', '', 'a'],
    ['takes a scope from the path', one, '', 'a', 'a'],
    ['accepts the same scope in path and query', one, 'scope=a', 'a', 'a'],
    ['accepts an empty scope in the query', one, 'scope=', '', ''],
    [
      'rejects two scopes in the query',
      one,
      'scope=a&scope=a',
      '',
      'parameter scope is given more than once',
    ],
    [
      'rejects different scopes in path and query',
      one,
      'scope=a',
      'b',
      'the path selects scope "b", but the query selects "a"',
    ],
    [
      'rejects an empty scope in the query beside a scope in the path',
      one,
      'scope=',
      'b',
      'the path selects scope "b", but the query selects ""',
    ],
    ['rejects a scope without routing parameters (7.1)', several, '', 'a', REQUIRED],
    ['rejects a scope with app alone (7.1)', several, 'app=adh&scope=a', '', REQUIRED],
    ['rejects a scope with instance alone (7.1)', several, 'instance=H.1.adh', 'a', REQUIRED],
    [
      'rejects a scope with an app and instance that two targets share (7.1)',
      several,
      'app=ads&instance=H.1.ads',
      'a',
      REQUIRED,
    ],
    [
      'rejects a scope with only a server_key that two targets share (7.1)',
      several,
      'server_key=7',
      'a',
      REQUIRED,
    ],
    ['accepts a scope with a server_key', several, 'server_key=80', 'a', 'a'],
    ['rejects a scope with a server_key that no target has', several, 'server_key=1', 'a', NONE],
    [
      'rejects a scope with app alone for a single target',
      one,
      'app=ads',
      'a',
      'app and instance must be given together; or use server_key',
    ],
  ];
  for (const [sentence, targets, query, inPath, wanted] of scoped)
    it(`${sentence}: ${inPath && `/${inPath}`}${query && `?${query}`} gives the ${wanted.length > 1 ? `error: ${wanted}` : `scope "${wanted}"`}`, () => {
      const result = route(targets, new URLSearchParams(query), ...(inPath === '' ? [] : [inPath]));
      expect(result.kind === 'target' ? result.scope : result.text).to.equal(wanted);
    });
});
