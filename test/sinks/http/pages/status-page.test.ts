// The status page at `/`: the state of each target, targets with problems first, and links.
import { expect } from 'chai';
import fc from 'fast-check';
import { compileScope } from '#app/exposition/page/scope.js';
import { PUBLISHER_STATES } from '#app/model.js';
import type { PublisherState, SyncProgress } from '#app/model.js';
import { htmlText } from '#app/sinks/http/pages/html.js';
import { MAX_ROWS, statusPage } from '#app/sinks/http/pages/status-page.js';
import type { StatusPageOptions } from '#app/sinks/http/pages/status-page.js';
import { FakeTarget } from '../../../support/fake-target.js';
import { serviceFacts } from '../../../support/service-facts.js';
import { textOf } from '../../../support/text-of-html.js';

const NOW_MS = serviceFacts.startedMs + 3_600_000;
const facts: StatusPageOptions = {
  path: '/metrics',
  hasHostPage: false,
  hasTrees: true,
  service: serviceFacts,
  scopesFor: () => [],
  nowMs: NOW_MS,
};
const html = (
  targets: readonly FakeTarget[],
  changed: Partial<StatusPageOptions> = {},
  from = 0,
  filter = '',
) => htmlText(statusPage(targets, { ...facts, ...changed }, { from, filter }));

const progress = (reason: string, synced = 0, total = 4): SyncProgress => ({
  objects: { synced, total },
  variables: { synced: 0, total: 0 },
  reason,
});

/** Returns the rows of the table as text, each followed by the row that shows its reason. */
const rows = (page: string): readonly string[] =>
  [...page.matchAll(/<tr id="target-[^]*?<\/tr>(\s*<tr id="reason-of-[^]*?<\/tr>)?/g)].map(
    ([row]) => textOf(row),
  );

/** Returns the text in the first target's cell below this heading. */
const cellOf = (page: string, head: string): string =>
  textOf(new RegExp(`<td role="cell" data-is="${head}">[^]*?</td>`).exec(page)?.[0] ?? '');

describe('the status page', () => {
  describe('shows for a target', () => {
    const ready = () => new FakeTarget();
    const waiting = (reason: string, root = 'H.1.ads') =>
      new FakeTarget('ads', ['82'], root).wait(progress(reason, 1));
    const as = (target: FakeTarget, state: PublisherState, reason = `publisher is ${state}`) =>
      Object.assign(target, { publisher: { state, reason } });

    for (const [what, target, severity, word, reason] of [
      [' if it is ready', ready(), 'good', 'ready', ''],
      [
        ' if its format leaves something out',
        Object.assign(ready(), {
          publisher: { state: 'live', reason: '2 files are shown, 1 left out: a', isPartial: true },
        }),
        'good',
        'ready',
        '2 files are shown, 1 left out: a',
      ],
      [
        ' if its publisher stalls',
        as(ready(), 'stalled', 'no heartbeat from the publisher for 9 s'),
        'warn',
        'ready, stalled',
        'no heartbeat from the publisher for 9 s',
      ],
      [' if it syncs', waiting('object a.b'), 'warn', 'syncing', 'waiting on object a.b'],
      [' if it has no root', waiting('a root', ''), 'bad', 'not ready', 'waiting on a root'],
      [
        ' if its publisher died',
        as(waiting('a root', ''), 'dead'),
        'bad',
        'not ready',
        'waiting on a root; publisher is dead',
      ],
      [
        ' if its publisher died, and reports the death only once',
        as(waiting('a root: publisher is dead', ''), 'dead'),
        'bad',
        'not ready',
        'waiting on a root: publisher is dead',
      ],
    ] as const)
      it(`the word "${word}"${what}`, () => {
        const page = html([target]);
        expect(page).to.contain(`<span class="state ${severity}">${word}</span>`);
        expect(page).to.contain(`<tr id="target-0" class="row-${severity}" role="row">`);
        const [row = ''] = rows(page);
        if (reason === '') expect(row).not.to.contain('waiting');
        else expect(row).to.contain(reason);
      });

    it('the state name of its publisher, for every state', () => {
      for (const state of PUBLISHER_STATES)
        expect(rows(html([as(ready(), state)]))[0], state).to.contain(state);
    });

    it('a note if its publisher runs in another PID namespace', () => {
      const target = waiting('object a');
      target.process = { pid: 1, isElsewhere: true, startedUnixMs: NOW_MS - 7_200_000 };
      expect(rows(html([target]))[0]).to.contain(
        'pid 1 (in another PID namespace), started 2 h ago',
      );
    });

    it('its progress, its publisher, the age of its newest value, and how long it has had its state', () => {
      const target = waiting('object a');
      target.ages = { sinceSeconds: 61, newest: { ageSeconds: 5, by: 'stated' } };
      target.process = { pid: 4711, startedUnixMs: NOW_MS - 7_200_000 };
      target.publisher = { ...target.publisher, heartbeatAgeSeconds: 2 };
      const page = html([target]);
      const [row = ''] = rows(page);
      for (const part of [
        'for 1 min 1 s',
        '25 %',
        '1 of 4 objects',
        '5 s ago as the publisher states',
        'pid 4711, started 2 h ago',
        'heartbeat 2 s ago',
        'server key 82, partition 0',
      ])
        expect(row).to.contain(part);
      expect(page).to.match(/<progress max="4" value="1" aria-label="[^"]+">/);
    });

    it('how old its newest value is, or why that is unknown', () => {
      const target = ready();
      const cell = () => cellOf(html([target]), 'newest value');
      expect(cell()).to.equal('no notification');
      target.ages = { sinceSeconds: 0, newest: { ageSeconds: 3, by: 'notified' } };
      expect(cell()).to.equal('3 s ago last notification');
      target.ages = { sinceSeconds: 0, newest: { ageSeconds: 3, by: 'earlier' } };
      expect(cell()).to.equal('over 3 s ago last notification');
      target.ages = { sinceSeconds: 0, newest: undefined };
      target.format = { ...target.format, notifies: false };
      expect(cell()).to.equal('not stated');
    });

    it('its format and how exact its values are, unless all values are proven exact', () => {
      const target = ready();
      expect(rows(html([target]))[0]).not.to.contain('proven');
      const certainty = 'numbers are proven exact, strings are best effort';
      target.format = { name: 'other', certainty, notifies: false };
      expect(rows(html([target]))[0]).to.contain(
        'format other: numbers are proven exact, strings are best effort',
      );
    });

    it('its number of series and a link to its tree, unless trees are disabled', () => {
      const target = ready();
      target.metrics = [
        { name: 'shm_exporter_target_series', type: 'gauge', help: '', value: 1234 },
      ];
      expect(rows(html([target]))[0]).to.contain('1,234 series');
      expect(html([target])).to.contain('href="./tree?server_key=82"');
      expect(html([target], { hasTrees: false })).not.to.contain('/tree');
    });
  });

  it('lists the largest metrics of a target', () => {
    const target = new FakeTarget();
    const family = (name: string, value: number) =>
      ({
        name: 'shm_exporter_family_series',
        type: 'gauge',
        help: '',
        labels: { family: name },
        value,
      }) as const;
    target.metrics = [{ name: 'shm_exporter_target_series', type: 'gauge', help: '', value: 1300 }];
    target.details = [family('ads_a', 1200), family('ads_<b>', 100)];
    expect(cellOf(html([target]), 'pages')).to.match(/1,300 series ?ads_a 1,200 ?"?ads_<b>"? 100/);
    target.isReady = false;
    expect(html([target])).not.to.contain('<details');
  });

  describe('links', () => {
    const scope = (...metrics: readonly string[]) => compileScope({ name: 'some', metrics });
    const LINK = 'href="./metrics/some?server_key=82"';
    const page = (target: FakeTarget, ...metrics: readonly string[]) =>
      html([target], { scopesFor: () => [scope(...metrics)] });

    it('every page, with a link name that includes the target', () => {
      const targets = [
        new FakeTarget(),
        new FakeTarget('ads', ['83'], ''),
        Object.assign(new FakeTarget('ads', ['84'], ''), { instance: '7' }),
      ];
      const made = html(targets, { scopesFor: () => [scope('demo_*')] });
      const names = [...made.matchAll(/aria-label="([^"]*) of ([^"]*)"/g)].map(
        ([, ...name]) => name,
      );
      expect(names).to.deep.equal([
        ...['metrics', 'tree', 'some'].map((each) => [each, 'H.1.ads, server key 82']),
        ...['metrics', 'tree', 'some'].map((each) => [each, 'ads, server key 83']),
        ...['metrics', 'tree', 'some'].map((each) => [each, 'ads, hint 7, server key 84']),
      ]);
    });

    it('a scope that selects metrics of the last page', () =>
      expect(page(new FakeTarget(), 'demo_*')).to.contain(LINK));

    it('a scope that selects internal metrics, even before the first page', () => {
      const target = Object.assign(new FakeTarget(), { hasText: false });
      expect(page(target, 'shm_exporter_target_info')).to.contain(LINK);
    });

    for (const [what, target, metrics, wanted] of [
      [
        'no scope without metrics on the last page',
        new FakeTarget(),
        'x_*',
        'scope some: no metrics at present',
      ],
      [
        'no scope of application metrics before the first page',
        Object.assign(new FakeTarget(), { hasText: false }),
        'demo_*',
        'scope some: available after the first scrape',
      ],
      [
        'no scope of a target that is not ready',
        new FakeTarget().wait(progress('x')),
        'demo_*',
        'scope some: available when the target is ready',
      ],
    ] as const)
      it(what, () => {
        const made = page(target, metrics);
        expect(made).not.to.contain('/metrics/some');
        expect(rows(made)[0]).to.contain(wanted);
      });
  });

  it('is updated every two seconds, or every ten if it has many rows', () => {
    const targets = (count: number) =>
      Array.from({ length: count }, (_, i) => new FakeTarget('ads', [String(i)]));
    for (const [count, seconds] of [
      [1, 2],
      [50, 2],
      [51, 10],
    ] as const) {
      const page = html(targets(count));
      expect(page).to.contain(`<body data-refresh="${seconds}000">`);
      expect(textOf(page)).to.contain(`Updates every ${seconds} seconds`);
    }
  });

  describe('(list of targets)', () => {
    const bad = () => new FakeTarget('bad', ['1'], '').wait(progress('a root'));
    const syncing = () => new FakeTarget('sync', ['2']).wait(progress('x'));
    const stalled = () =>
      Object.assign(new FakeTarget('late', ['3']), {
        publisher: { state: 'stalled', reason: 'r' },
      });
    const good = (key = '4') => new FakeTarget('good', [key]);

    it('lists targets with problems first, then ready targets in the order of the configuration', () => {
      const page = html([good(), stalled(), good('5'), syncing(), bad()]);
      const apps = [...page.matchAll(/<span class="app">(\w+)<\/span>/g)].map(([, app]) => app);
      expect(apps).to.deep.equal(['bad', 'late', 'sync', 'good', 'good']);
      const ids = [...page.matchAll(/<tr id="(target-[^"]+)"/g)].map(([, id]) => id);
      expect(ids).to.deep.equal(['target-4', 'target-1', 'target-3', 'target-0', 'target-2']);
    });

    for (const [what, targets, severity, text] of [
      ['the only target is ready', [good()], 'good', 'The target is ready'],
      ['all targets are ready', [good(), good('5')], 'good', 'All 2 targets are ready'],
      ['a target stalls', [good(), stalled()], 'warn', 'All ready; 1 of 2 targets stalled'],
      ['a target syncs', [good(), syncing()], 'warn', '1 of 2 targets not ready'],
      [
        'a target waits for its root',
        [good(), syncing(), bad()],
        'bad',
        '2 of 3 targets not ready',
      ],
      ['there are no targets', [], 'good', 'All 0 targets are ready'],
    ] as const)
      it(`summarizes at its top that ${what}`, () =>
        expect(html(targets)).to.contain(
          `<p id="summary" class="summary ${severity}" role="status">${text}</p>`,
        ));

    it('is divided into pages of a limited number of rows, and every target is on one of the pages', () => {
      const targets = Array.from({ length: 500 }, (_, i) => good(String(i)));
      const pages = [0, MAX_ROWS, 2 * MAX_ROWS].map((from) => html(targets, {}, from));
      expect(pages.map((page) => rows(page).length)).to.deep.equal([MAX_ROWS, MAX_ROWS, 100]);
      expect(pages[0]).to.contain('1 to 200 of 500');
      expect(pages[1]).to.contain('href="./?from=0"').and.to.contain('href="./?from=400"');
      const ids = pages.flatMap((page) =>
        [...page.matchAll(/<tr id="(target-[^"]+)"/g)].map(([, id]) => id),
      );
      expect(new Set(ids)).to.have.lengthOf(500);
      expect(Math.max(...pages.map(({ length }) => length))).to.be.below(400_000);
    });
  });

  describe('(many targets)', () => {
    const MANY = 200;
    const APPS = ['shop', 'ads', 'jvm', 'varnish'];
    /** 50 targets of each application; of `jvm`, one has no root. */
    const many = (): FakeTarget[] =>
      Array.from({ length: MANY }, (_, i) => {
        const app = APPS[i % APPS.length] ?? '';
        const target = new FakeTarget(app, [`k${i}`], `H.${i}.${app}`);
        return i === 42
          ? Object.assign(target, { app: 'jvm', root: '' }).wait(progress('a root'))
          : target;
      });
    const headings = (page: string): readonly string[] =>
      [...page.matchAll(/<tr id="app-[^]*?<\/tr>/g)].map(([row]) => textOf(row));

    it('groups them by application, those with problems first', () => {
      const page = html(many());
      expect(headings(page)).to.deep.equal([
        'jvm 1 of 50 targets not ready',
        'ads 50 targets',
        'shop 50 targets',
        'varnish 50 targets',
      ]);
      expect(rows(page)).to.have.lengthOf(MANY);
      expect(rows(page)[0]).to.match(/^not ready .* waiting on a root$/);
      expect(page).to.contain('colspan="6">waiting on a root<');
    });

    it('does not group a few targets', () => {
      const page = html(many().slice(0, 10));
      expect(headings(page)).to.deep.equal([]);
      expect(page).not.to.contain('<form');
    });

    for (const [what, filter, count] of [
      ['a server key', 'k17', 11],
      ['an application, in any case', 'VarNish', 50],
      ['a root', 'h.43.', 1],
      ['the reason why a target is not ready', 'waiting on a root', 1],
      ['several words', 'jvm not root', 1],
      ['nothing', 'no-such-target', 0],
    ] as const)
      it(`shows the targets that match a filter with ${what}`, () => {
        const page = html(many(), {}, 0, filter);
        expect(rows(page)).to.have.lengthOf(count);
        expect(page).to.contain(`value="${filter}"`);
        if (count === 0) expect(textOf(page)).to.contain('No target has all of these words.');
        expect(textOf(page), 'all targets').to.contain('1 of 200 targets not ready');
      });

    it('keeps the filter in the links to further pages, and starts at the first page beyond the last', () => {
      const targets = Array.from({ length: 600 }, (_, i) => new FakeTarget('a&b', [`k${i}`]));
      const page = html(targets, {}, MAX_ROWS, 'a&b k');
      expect(page).to.contain('href="./?q=a%26b+k&#38;from=400"');
      expect(html(targets, {}, 600, 'k')).to.contain('1 to 200 of 600');
    });

    it('escapes the filter, and is not compressed if it repeats it', () => {
      const page = statusPage(many(), facts, { from: 0, filter: '"><script>' });
      expect(htmlText(page)).to.contain('value="&#34;&#62;&#60;script&#62;"');
      expect(page.isEcho).to.equal(true);
      expect(statusPage(many(), facts).isEcho).to.equal(false);
    });

    it('is bounded for thousands of targets', () => {
      const targets = Array.from({ length: 5000 }, (_, i) =>
        new FakeTarget(`app${i % 300}`, [`k${i}`], '').wait(progress('a root '.repeat(20))),
      );
      const page = html(targets);
      expect(rows(page)).to.have.lengthOf(MAX_ROWS);
      expect(page.length).to.be.below(400_000);
    });
  });

  describe('shows about the process', () => {
    const shown = (service: Partial<StatusPageOptions['service']>) => {
      const page = html([], { service: { ...serviceFacts, ...service } });
      const [, part = ''] = /<dl class="facts"[^>]*>([^]*?)<\/dl>/.exec(page) ?? [];
      return textOf(part);
    };
    const license = {
      state: 'valid',
      severity: 'good',
      expiresMs: NOW_MS + 90_000_000,
      warning: '',
    } as const;

    for (const [what, service, wanted] of [
      ['its version, commit and Node.js version', {}, '1.2.3 commit 0123456789ab, Node.js 24.1.0'],
      ['a note if its commit is unknown', { revision: '' }, 'unknown commit'],
      ['how long it has been running', {}, '1 h since 2026-01-05 08:00:00Z'],
      ['when its license expires', { license }, 'valid expires in 1 d 1 h'],
      [
        'the grace period of its license',
        {
          license: {
            ...license,
            state: 'grace',
            expiresMs: NOW_MS - 60_000,
            warning: 'license l expired',
          },
        },
        'grace expired 1 min ago',
      ],
      ['a note if its license has not been checked yet', { license: undefined }, 'not checked yet'],
      ['when it accepted its configuration', {}, 'accepted 1 h ago 2026-01-05 08:00:00Z'],
      [
        'a note if it refused a later configuration',
        { configuration: { acceptedMs: NOW_MS - 60_000, refusedMs: NOW_MS - 2000 } },
        'last reload refused 2 s ago The log has the reasons. The configuration in use was accepted 1 min ago',
      ],
    ] as const)
      it(what, () => expect(shown(service)).to.contain(wanted));
  });

  it('escapes every text of publishers and configuration', () =>
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom(...Array.from('<>&"\'` .ax\u202e\n')) }), {
          minLength: 6,
          maxLength: 6,
        }),
        ([app = '', key = '', root = '', reason = '', instance = '', state = '']) => {
          const target = new FakeTarget(app, [key], root).wait(progress(reason));
          Object.assign(target, { instance, publisher: { state: 'dead', reason: state } });
          const scopes = [compileScope({ name: reason, metrics: ['*'] })];
          const page = html([target, new FakeTarget(app, [root])], { scopesFor: () => scopes });
          const harmless = html(
            [new FakeTarget('a', ['k']).wait(progress('r')), new FakeTarget()],
            {
              scopesFor: () => [compileScope({ name: 's', metrics: ['*'] })],
            },
          );
          // The page must have as many elements of each kind as with harmless texts, except links and line
          // breaks in texts.
          const count = (text: string, tag: string) => text.split(`<${tag}`).length;
          for (const tag of ['script', 'tr', 'td', 'th', 'p ', 'dl', 'table', 'img', 'iframe'])
            expect(count(page, tag), tag).to.equal(count(harmless, tag));
          expect(page).not.to.match(/[\u202e]/);
        },
      ),
      { numRuns: 50 },
    ));

  it('does not wrap table headings', () => {
    const page = html([]);
    expect(page).to.match(/thead th\{[^}]*white-space:nowrap/);
    expect(page).not.to.match(/overflow-wrap:(anywhere|break-word)|word-break:break/);
  });
});
