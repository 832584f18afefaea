// Tests the age of the newest value, in the metrics and on the HTML pages, with the first program of each
// documentation page about publishing.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { needsPrograms } from '../support/needs.js';
import { pageBlocks } from '../support/page-blocks.js';
import { PROJECT, testPrograms, waitFor } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { textOf } from '../support/text-of-html.js';
import { samplesOf, scrape } from './page.js';

const PUBLISHER = join(PROJECT, 'dist/native/publisher/publisher.js');

describe('the age of the newest value', function () {
  this.slow(20_000);
  const programs = testPrograms();

  /** Returns a file of a documentation page with some words replaced. The file must contain each word. */
  function fileOf(page: string, file: string, words: readonly (readonly [string, string])[]) {
    const block = pageBlocks(readFileSync(page, 'utf8')).find((each) => each.file === file);
    return words.reduce(
      (text, [from, to]) => {
        expect(text, `${page}: ${file}`).to.contain(from);
        return text.replaceAll(from, to);
      },
      block?.lines.join('\n') ?? '',
    );
  }

  /** Starts the program of a documentation page with this server key. */
  const start = {
    c: (serverKey: string) => {
      const words = ['"c-shop";', `"${serverKey}"; options.context_id = "${programs.contextId}";`];
      const text = fileOf('sdk/c/README.md', 'shop.c', [words as [string, string]]);
      const source = programs.write(`${serverKey}.c`, text);
      const binary = programs.path(serverKey);
      const options = ['-I', join(PROJECT, 'sdk/c'), '-o', binary, source, '-pthread'];
      expect(spawnSync('cc', options, { encoding: 'utf8' }).stderr).to.equal('');
      return programs.command([binary]);
    },
    python: (serverKey: string, heartbeat = 'publisher.notify()') => {
      const text = fileOf('sdk/python/README.md', 'shop.py', [
        ['"shop-1"', `"${serverKey}", "${programs.contextId}"`],
        ['import time\n', `import sys, time; sys.path.insert(0, "${PROJECT}sdk/python")\n`],
        ['publisher.notify()', heartbeat],
      ]);
      return programs.command(['python3', programs.write(`${serverKey}.py`, text)]);
    },
    typeScript: (serverKey: string, heartbeat = 'publisher.notify()') => {
      const text = fileOf('docs/publish-typescript.md', 'tills.mts', [
        ["'tills-1'", `'${serverKey}', contextId: '${programs.contextId}'`],
        ["'shm-publisher'", `'${PUBLISHER}'`],
        [' as const', ''],
        ['publisher.notify()', heartbeat],
      ]);
      return programs.command([process.execPath, programs.write(`${serverKey}.mjs`, text)]);
    },
  };
  const isPublishing = ({ stdout, stderr }: Running) => (stdout + stderr).includes('publishing');

  it('is the time since the last notification, even without a scrape, and is absent if the publisher never notifies', async function () {
    needsPrograms(this, 'cc', 'python3');
    const notifying = { c: start.c('c'), py: start.python('py'), ts: start.typeScript('ts') };
    const silent = {
      'py-beats': start.python('py-beats', 'publisher.heartbeat()'),
      'ts-beats': start.typeScript('ts-beats', 'publisher.beat()'),
      'ts-neither': start.typeScript('ts-neither', '0'),
    };
    const all = Object.entries({ ...notifying, ...silent });
    await waitFor('all publish', () => all.every(([, each]) => isPublishing(each)) || undefined);
    const tables = all.map(([key]) => `[[targets]]\napp = "shop"\nserver_key = "${key}"\n`);
    const exporter = programs.start('exporter', ['--config', programs.config({}, tables.join(''))]);
    const url = (await exporter.url()).replace(/metrics$/, '');

    /** Returns the age in seconds by server key. */
    const ages = async () => {
      const samples = samplesOf((await scrape(`${url}-/metrics`)).body);
      const own = samples.filter(
        ({ name }) => name === 'shm_exporter_target_notification_age_seconds',
      );
      return new Map(own.map(({ labels, value }) => [labels['server_key'], Number(value)]));
    };
    const cells = async () => {
      const rows = [...(await scrape(url)).body.matchAll(/<tr id="target-[^]*?<\/tr>/g)];
      const cell = /<td role="cell" data-is="newest value">[^]*?<\/td>/;
      return new Map(
        rows.map(([row]) => [
          /server key (\S+),/.exec(textOf(row))?.[1],
          textOf(cell.exec(row)?.[0] ?? ''),
        ]),
      );
    };
    const isAged = async (isRight: (age: number, key: string) => boolean, what: string) =>
      waitFor(what, async () => {
        const found = await ages();
        const keys = Object.keys(notifying);
        return keys.every((key) => isRight(found.get(key) ?? NaN, key)) ? found : undefined;
      });

    await isAged((age) => age < 2, 'the age of the last notification');
    const shown = await waitFor('the cells', async () => {
      const found = await cells();
      const isOver = (key: string) => found.get(key)?.startsWith('over') === false;
      return Object.keys(notifying).every(isOver) ? found : undefined;
    });
    for (const key of Object.keys(notifying))
      expect(shown.get(key), key).to.match(/^\d+ s ago last notification$/);
    for (const key of Object.keys(silent)) expect(shown.get(key), key).to.equal('no notification');
    expect([...(await ages()).keys()].toSorted()).to.deep.equal(Object.keys(notifying).toSorted());
    notifying.py.signal('SIGSTOP');
    await isAged(
      (age, key) => (key === 'py' ? age > 3 : age < 3),
      'the age grows for the stopped publisher only',
    );
    notifying.py.signal('SIGCONT');
    await isAged((age) => age < 3, 'the age falls');
  });
});
