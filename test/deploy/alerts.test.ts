// Tests the alerts of deploy/prometheus: when each fires, and its section in docs/alerts.md.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ALERT_CASES, onHostPage, worldWith } from './alert-cases.js';
import { promtool, testRules } from './promtool.js';
import type { Values } from './promtool.js';
import { ALERTS, ALERT_FILES, PROMETHEUS } from './rule-files.js';
import { needsPrograms } from '../support/needs.js';

const RUNBOOK = 'docs/alerts.md';
const runbook = readFileSync(RUNBOOK, 'utf8');

/** Expects exactly these alerts to fire, in promtool's notation. */
const firing = (...names: readonly string[]) => ({
  expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
  samples: names.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
});

describe(PROMETHEUS, () => {
  const folder = temporaryFolder();

  it('has a configuration and rules that Prometheus accepts', function () {
    needsPrograms(this, 'promtool');
    expect(promtool('check', 'config', join(PROMETHEUS, 'prometheus.yml'))).to.equal('');
  });

  it('has one test case for each alert', () =>
    expect(ALERT_CASES.map(({ alert }) => alert).sort()).to.deep.equal(
      ALERTS.map(({ name }) => name).sort(),
    ));

  for (const [way, seen] of [
    ['one target per root', (values: Values) => values],
    ['the host page', onHostPage],
  ] as const) {
    it(`fires no alert for healthy targets (${way})`, function () {
      needsPrograms(this, 'promtool');
      const world = { name: 'all is well', values: seen(worldWith({})), expected: [firing()] };
      expect(testRules(folder.path('test.yml'), ALERT_FILES, [world])).to.equal('');
    });

    it(`fires in each test case only the alert of this case (${way})`, function () {
      needsPrograms(this, 'promtool');
      const tests = ALERT_CASES.flatMap(({ alert, fires, firesToo }) =>
        [fires, ...(firesToo === undefined ? [] : [firesToo])].map((changes) => ({
          name: alert,
          values: seen(worldWith(changes)),
          expected: [firing(alert)],
        })),
      );
      expect(testRules(folder.path('test.yml'), ALERT_FILES, tests)).to.equal('');
    });

    it(`fires no alert for values just below the threshold of the alert (${way})`, function () {
      needsPrograms(this, 'promtool');
      const tests = ALERT_CASES.map(({ alert, silent }) => ({
        name: alert,
        values: seen(worldWith(silent)),
        expected: [firing()],
      }));
      expect(testRules(folder.path('test.yml'), ALERT_FILES, tests)).to.equal('');
    });
  }

  for (const { name, text } of ALERTS)
    it(`gives ${name} a severity, a summary and a runbook link`, () => {
      expect(text).to.match(/^ {10}severity: (critical|warning|info)$/m);
      expect(text).to.match(/^ {10}summary: '.{20,}\.'$/m);
      expect(text).to.match(/^ {10}description: '.{20,}\.'$/m);
      expect(text).to.include(`runbook_url: ${RUNBOOK}#${name.toLowerCase()}\n`);
    });
});

describe(RUNBOOK, () => {
  const sections = new Map(
    runbook
      .split(/^### /m)
      .slice(1)
      .map((text): [string, string] => [text.split('\n')[0] ?? '', text]),
  );

  it('has exactly one heading for each alert, in the order of the rules', () =>
    expect([...sections.keys()]).to.deep.equal(ALERTS.map(({ name }) => name)));

  // The text below the last of several consecutive headings applies to all of them.
  const actions = [...sections].filter(([name, text]) => text.trim() !== name);

  it('has a text below each heading', () =>
    expect(runbook).not.to.match(/^### .+\n+(?=## |Next:)/m));

  for (const [name, text] of actions)
    it(`has actions for ${name}`, () => expect(text).to.match(/^\*Do\.\* .+/m));
});
