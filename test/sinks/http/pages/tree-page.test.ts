// The tree page at `/tree`: its queries to a target, its rows, and its errors.
import { expect } from 'chai';
import fc from 'fast-check';
import { map, merge } from 'rxjs';
import { compileScope } from '#app/exposition/page/scope.js';
import { TREE_CHOICES, TREE_FIELDS } from '#app/model.js';
import type { TreeObject, TreePart, TreeRow, TreeVariable } from '#app/model.js';
import { readParameters, writeParameters } from '#app/sinks/http/pages/tree-page.js';
import { treeResponder } from '#app/sinks/http/pages/tree-page.js';
import { FakeTarget } from '../../../support/fake-target.js';
import { marbles } from '../../../support/marbles.js';
import { freshServing } from '../../../support/serving-http.js';
import { textOf } from '../../../support/text-of-html.js';

const fate = { isSynced: true, metrics: [], why: '' };
const object = (changed: Partial<TreeObject> = {}): TreeObject => ({
  ...{ kind: 'object', id: 1, name: 'H.1.ads', className: 'Root', depth: 0, isMatch: true },
  ...{ variables: 2, children: 0, value: { kind: 'plain', text: 'normal' }, ...fate },
  ...changed,
});
const variable = (changed: Partial<TreeVariable> = {}): TreeVariable => ({
  ...{ kind: 'variable', id: 2, name: 'sales', type: 'u64', variableKind: 'counter' },
  ...{ unit: 'items', help: 'Sales.', value: { kind: 'plain', text: '7' }, ...fate },
  ...changed,
});
const part = (rows: readonly TreeRow[], changed: Partial<TreePart> = {}): TreePart => ({
  ...{ kind: 'part', root: 'H.1.ads', above: [], rows, next: undefined, isLate: false },
  tracked: { objects: 1, variables: 2 },
  ...changed,
});

const rowsOf = (html: string): readonly string[] =>
  [...html.matchAll(/<tr [^>]*id="i[^]*?<\/tr>/g)].map(([row]) => textOf(row));
const linksOf = (html: string): readonly string[] =>
  [...html.matchAll(/href="\.(\/tree[^"]*)"[^>]*>([^<]*)/g)].map(
    ([, href = '', text = '']) => `${text} ${href.replaceAll('&#38;', '&')}`,
  );

describe('the tree page', () => {
  const serve = freshServing();
  const ask = async (target: FakeTarget, query = 'server_key=82', options = {}) =>
    (await serve([target], options)).ask(`/tree?${query}`);
  const showing = (rows: readonly TreeRow[], changed: Partial<TreePart> = {}) =>
    Object.assign(new FakeTarget(), { answer: part(rows, changed) });

  it('shows each object, and its variables below it', async () => {
    const { status, text, headers } = await ask(showing([object(), variable()]));
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(rowsOf(text)).to.deep.equal([
      'H.1.ads 2 variables Root normal',
      'sales Sales. u64 counter items 7',
    ]);
    expect(text).to.contain(
      '2 shown from the beginning to the end. The target tracks 1 object and 2 variables.',
    );
  });

  for (const [last, age] of [
    [{ ageSeconds: 125, by: 'heartbeat' }, 'its last heartbeat was 2 min 5 s ago'],
    [{ ageSeconds: 3, by: 'stated' }, 'it states that they are of 3 s ago'],
    [{ ageSeconds: undefined, by: 'heartbeat' }, 'it states no time'],
  ] as const)
    it(`marks the last values of a publisher that died: ${age}`, async () => {
      const metric = {
        name: 'ads_sales',
        type: 'counter',
        labels: '',
        series: 0,
        why: '',
      } as const;
      const target = showing([object(), variable({ metrics: [metric] })], {
        ...{ tracked: undefined, last },
      }).wait({
        ...{ objects: { synced: 0, total: 0 }, variables: { synced: 0, total: 0 } },
        reason: 'a root',
      });
      const { status, text } = await ask(target);
      expect(status).to.equal(200);
      expect(textOf(/<p id="last"[^]*?<\/p>/.exec(text)?.[0] ?? '')).to.equal(
        `These are the last values of a publisher that is not served; ${age}. Scrapes get 503.`,
      );
      expect(rowsOf(text)[1]).to.match(/ ads_sales$/);
      expect(textOf(text)).to.contain('tree of H.1.ads').and.not.to.contain('The target tracks');
      expect(text).to.contain('Read from its segment at');
    });

  it('shows the time of the query, and the age of the newest value', async () => {
    const target = showing([object()]);
    const last = 'Publishers do not state when a single value changed.';
    expect(textOf((await ask(target)).text)).to.contain(
      `Values as read at 2026-01-05 08:00:00Z; the publisher has not notified. ${last}`,
    );
    target.ages = { sinceSeconds: 0, newest: { ageSeconds: 3, by: 'notified' } };
    expect(textOf((await ask(target)).text)).to.contain('newest value 3 s ago (last notification)');
    target.ages = { sinceSeconds: 0, newest: undefined };
    target.format = { name: 'other', certainty: '', notifies: false };
    expect(textOf((await ask(target)).text)).to.contain('; format other has no notifications.');
  });

  describe('shows for a value', () => {
    const metric = { name: 'ads_x', type: 'gauge', labels: '', series: 1, why: '' } as const;
    for (const [what, changed, wanted] of [
      ['its metric', { metrics: [metric] }, 'ads_x'],
      ['its metric with labels', { metrics: [{ ...metric, labels: 'a="b"' }] }, 'ads_x{a="b"}'],
      ['the number of its series', { metrics: [{ ...metric, series: 12 }] }, 'ads_x 12 series'],
      ['why it has no metric', { why: 'no row reads it' }, 'no metric: no row reads it'],
      [
        'why its metric has no series now',
        { metrics: [{ ...metric, series: 0, why: 'clash' }] },
        'not ads_x clash',
      ],
      [
        'the first eight of its metrics, and the number of further ones',
        { metrics: Array.from({ length: 10 }, (_, i) => ({ ...metric, name: `m${i}` })) },
        'm0 m1 m2 m3 m4 m5 m6 m7 and 2 more',
      ],
    ] as const)
      it(what, async () => {
        const { text } = await ask(showing([object(), variable(changed)]));
        expect(rowsOf(text)[1]?.endsWith(` 7 ${wanted}`), rowsOf(text)[1]).to.equal(true);
      });

    it('a note if the scope of the request omits its metric', async () => {
      const target = showing([object(), variable({ metrics: [metric] })]);
      const scopes = [compileScope({ name: 's', metrics: ['y_*'] })];
      const options = { scope: (name: string) => scopes.find((each) => each.name === name) };
      const { text } = await ask(target, 'server_key=82&scope=s', options);
      expect(rowsOf(text)[1]).to.contain('ads_x outside of scope s');
      expect(text).to.contain('<a href="./metrics?server_key=82">metrics</a>');
    });
  });

  for (const [what, value, wanted] of [
    ['that it is not synced', { kind: 'none', reason: 'not synced' }, '(not synced)'],
    ['a number', { kind: 'plain', text: '-1.5' }, '-1.5'],
    [
      'a text in quotes and with escapes',
      { kind: 'text', text: 'a "b"\n', characters: 6 },
      '"a \\"b\\"\\n"',
    ],
    [
      'the beginning and the length of a long text',
      { kind: 'text', text: 'abc', characters: 3000 },
      '"abc"… (3,000 characters)',
    ],
  ] as const)
    it(what, async () => {
      const { text } = await ask(showing([object(), variable({ value })]));
      expect(rowsOf(text)[1]).to.contain(` items ${wanted}`);
    });

  describe('queries its target', () => {
    it('with the parameters of the request', async () => {
      const target = showing([]);
      await ask(target, 'server_key=82&object=a.b&q=Two+Words&in=value&show=unsynced&from=0.7.99');
      expect(target.queries).to.have.lengthOf(1);
      const { maxMs, maxRows, maxCharacters, ...query } = target.queries[0] ?? {};
      expect(query).to.deep.equal({
        ...{ object: 'a.b', words: ['two', 'words'], field: 'value', choice: 'unsynced', from: 99 },
        showsUnreadTexts: true,
      });
      expect(maxRows).to.equal(200);
      expect(maxCharacters).to.equal(262_144);
      expect(maxMs).to.equal(1500);
    });

    it('for string values without a row only if the client may see them', async () => {
      const target = showing([]);
      await ask(target, 'server_key=82', { showsUnreadTexts: () => false });
      expect(target.queries[0]?.showsUnreadTexts).to.equal(false);
    });

    it(
      'with at most two queries at a time, each with a time limit',
      marbles(({ cold, expectObservable }) => {
        const options = { path: '/metrics', scope: () => undefined };
        const respond = treeResponder({
          ...options,
          showsUnreadTexts: () => true,
          hostPage: { isEnabled: () => false },
          dumpCommand: () => '',
          unixMs: () => 0,
        });
        const queries = ['  3s (a|)', '-', '-', '(a|)'].map((picture) =>
          cold(picture, { a: part([]) }),
        );
        const query = new URLSearchParams();
        const asked = queries.map((look$) => {
          const target = Object.assign(new FakeTarget(), { queryTree: () => look$ });
          return respond([target], query).pipe(map(({ status }) => status));
        });
        const all$ = merge(...asked);
        // The first two queries begin at once, and the third when the first has ended. The fourth cannot begin before
        // its deadline.
        const statuses = '         3s a 6999ms (bcd|)';
        expectObservable(all$).toBe(statuses, { a: 200, b: 503, c: 503, d: 503 });
      }),
    );
  });

  describe('links', () => {
    const rows = [object(), variable()];
    it('to the previous and the next part of the tree, and to each object', async () => {
      const { text } = await ask(showing(rows, { next: 300 }), 'server_key=82&from=0.100');
      expect(linksOf(text)).to.deep.equal([
        'first /tree?server_key=82',
        'previous /tree?server_key=82',
        'next /tree?server_key=82&from=0.100.300',
        'update every 5 s /tree?server_key=82&from=0.100&live=1',
        'H. /tree?server_key=82&object=H.1.ads',
      ]);
    });

    it('to the rest of the search results, and to the page without the search', async () => {
      const { text } = await ask(
        showing(rows, { next: 300, isLate: true }),
        'server_key=82&q=x&in=value',
      );
      expect(linksOf(text)).to.include.members([
        'continue the search /tree?server_key=82&q=x&in=value&from=0.300',
        'clear the search /tree?server_key=82',
      ]);
      expect(text).to.contain('2 found from the beginning to position 300.');
      expect(text).to.contain('The search paused, so that it does not delay scrapes.');
    });

    it('to the objects above the selected object', async () => {
      const { text } = await ask(
        showing(rows, { above: ['H.1.ads'] }),
        'server_key=82&object=H.1.ads.b',
      );
      expect(linksOf(text)).to.include.members([
        'whole tree /tree?server_key=82',
        'H. /tree?server_key=82&object=H.1.ads',
      ]);
      expect(text).to.contain('<input type="hidden" name="object" value="H.1.ads.b">');
    });
  });

  for (const [next, query, wanted] of [
    [undefined, 'q=x', 'Nothing found from here to the end.'],
    [9, 'q=x', 'Nothing found in this part of the tree.'],
    [undefined, 'from=99', 'There is nothing from here on.'],
  ] as const)
    it(`shows the text "${wanted}" if a part of the tree has no rows`, async () =>
      expect((await ask(showing([], { next }), `server_key=82&${query}`)).text).to.contain(wanted));

  it('links to the tree of each target if the request selects no target', async () => {
    const http = await serve([new FakeTarget('ads', ['82']), new FakeTarget('adh', ['80'])]);
    const { status, text } = await http.ask('/tree');
    expect(status).to.equal(400);
    expect(linksOf(text)).to.deep.equal([
      'ads on 82 /tree?server_key=82',
      'adh on 80 /tree?server_key=80',
    ]);
  });

  describe('rejects', () => {
    const scopes = {
      scope: (name: string) => (name === 's' ? compileScope({ name, metrics: [] }) : undefined),
    };
    for (const [what, query, status, wanted] of [
      [
        'an unknown target, even if q is repeated',
        'server_key=1&q=x&q=y',
        404,
        'no target matches the routing parameters',
      ],
      [
        'a repeated server_key',
        'server_key=82&server_key=82',
        400,
        'parameter server_key is given more than once',
      ],
      [
        'an unknown scope, even if q is repeated',
        'server_key=82&scope=x&q=x&q=y',
        404,
        'no metric scope "x"',
      ],
      ['a repeated q', 'server_key=82&scope=s&q=x&q=y', 400, 'parameter q is given more than once'],
      [
        'an unknown value of in',
        'server_key=82&in=x',
        400,
        'parameter "in": found "x", allowed: any, object, class, variable, metric, value',
      ],
      [
        'an unknown value of show',
        'server_key=82&show=x',
        400,
        'parameter "show": found "x", allowed: all, metrics, left-out, unsynced',
      ],
      [
        'a negative position',
        'server_key=82&from=-1',
        400,
        'parameter "from": found "-1", allowed: a position, which is at least 0',
      ],
      [
        'a position of more than ten digits',
        'server_key=82&from=99999999999',
        400,
        'parameter "from": found "99999999999"',
      ],
      [
        'a search of more than 1024 characters',
        `server_key=82&q=${'x'.repeat(1025)}`,
        400,
        'parameters object and q have at most 1024 characters',
      ],
      ['an unknown object', 'server_key=82&object=a', 404, 'the tree has no object "a"'],
    ] as const)
      it(`with ${status} ${what}`, async () => {
        const answer = await ask(new FakeTarget(), query, scopes);
        expect(answer.status).to.equal(status);
        expect(textOf(answer.text)).to.contain(wanted);
        expect(answer.headers.get('content-security-policy')).to.contain("default-src 'none'");
      });

    it('with 503 a target that has no tree, and shows the reason', async () => {
      const target = new FakeTarget('ads', ['82'], '').wait({
        ...{ objects: { synced: 0, total: 0 }, variables: { synced: 0, total: 0 } },
        reason: 'a root',
      });
      target.answer = { kind: 'no-tree', reason: 'a root <b>' };
      const { status, text } = await ask(target);
      expect(status).to.equal(503);
      expect(textOf(text))
        .to.contain('not ready: waiting on a root')
        .and.to.contain('There is no tree: a root <b>.');
      expect(text).not.to.contain('<b>');
    });

    it('with 503 a target whose publisher died, and suggests the command that shows the last values', async () => {
      const reason = 'a root of application ads; server key 82: publisher died without closing';
      const target = new FakeTarget('ads', ['82'], '').wait({
        ...{ objects: { synced: 0, total: 0 }, variables: { synced: 0, total: 0 }, reason },
      });
      target.answer = { kind: 'no-tree', reason };
      const note = async () =>
        textOf(/<p id="tree"[^]*?<\/p>/.exec((await ask(target)).text)?.[0] ?? '');
      const command = ' On the host, shm_dump --server-key 82 shows the last values.';
      for (const [state, more] of [
        ['dead', command],
        ['stalled', command],
        ['closed', ''],
        ['absent', ''],
      ] as const) {
        target.publisher = { state, reason: 'publisher died without closing' };
        expect(await note(), state).to.equal(`There is no tree now.${more}`);
      }
      target.publisher = { state: 'dead', reason };
      target.format = { name: 'varnish', certainty: '', notifies: false };
      expect(await note(), 'a format that shm_dump cannot read').to.equal('There is no tree now.');
    });

    it('with 403 all requests if trees are disabled', async () => {
      const { status, text } = await ask(showing([]), 'server_key=82', { hasTrees: false });
      expect(status).to.equal(403);
      expect(text).to.equal('trees are off; http_tree_enabled turns them on\n');
    });

    it('with 405 all methods except GET and HEAD', async () => {
      const http = await serve([showing([])]);
      expect((await http.ask('/tree', { method: 'POST' })).status).to.equal(405);
      expect((await http.ask('/tree', { method: 'HEAD' })).text).to.equal('');
    });

    it('no scrape, even if metrics_path is /tree', async () => {
      const http = await serve([showing([])], { path: '/tree' });
      const { text } = await http.ask('/tree');
      expect(text).to.contain('demo_value 1');
      expect((await http.ask('/')).text).not.to.contain('>tree<');
    });
  });

  it('escapes every text of a publisher, and has a limited size', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: fc.constantFrom(...Array.from('<>&"\'`=\u202e\n .x')) }), {
          minLength: 7,
          maxLength: 7,
        }),
        async ([
          name = '',
          className = '',
          text = '',
          help = '',
          unit = '',
          labels = '',
          why = '',
        ]) => {
          const metrics = [{ name: 'm', type: 'gauge', labels, series: 0, why } as const];
          const value = { kind: 'text', text, characters: text.length } as const;
          const http = await serve([
            showing([
              object({ name, className, why }),
              variable({ name, unit, help, value, metrics }),
            ]),
          ]);
          const query = new URLSearchParams({
            q: text.replaceAll('\u202e', ''),
            object: name.replaceAll('\u202e', ''),
          });
          const { text: page } = await http.ask(`/tree?${query.toString()}`);
          http.end();
          expect(page.match(/<tr/g)).to.have.lengthOf(3);
          expect(page.match(/<(script|img|iframe|style|link|meta|b)\b/g)).to.have.members([
            ...['<meta', '<meta', '<link', '<style'],
          ]);
          expect(page.match(/<input/g)).to.have.lengthOf(query.get('object') === '' ? 1 : 2);
          expect(page).not.to.contain('\u202e');
        },
      ),
      { numRuns: 40 },
    ));
});

describe('the parameters of a tree page', () => {
  it('are unchanged after formatting and parsing', () =>
    fc.assert(
      fc.property(
        fc.record({
          object: fc.string({ maxLength: 40 }),
          q: fc.string({ maxLength: 40 }),
          field: fc.constantFrom(...TREE_FIELDS),
          choice: fc.constantFrom(...TREE_CHOICES),
          trail: fc.array(fc.nat(2 ** 31), { minLength: 1, maxLength: 32 }),
          isLive: fc.boolean(),
        }),
        (given) => {
          const query = new URLSearchParams(
            Object.entries(writeParameters(given)).filter(([, value]) => value !== ''),
          );
          expect(readParameters(query)).to.deep.equal(given);
        },
      ),
    ));

  it('include the positions of at most 32 previous pages', () => {
    const trail = Array.from({ length: 50 }, (_, i) => i);
    const read = readParameters(new URLSearchParams({ from: trail.join('.') }));
    expect(read).to.have.property('trail').that.deep.equals(trail.slice(-32));
  });
});
