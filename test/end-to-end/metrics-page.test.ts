// Tests that the common example program publishes the same page in each language.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { needsPrograms } from '../support/needs.js';
import { PROJECT, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { applicationPart, promtoolLines, readyPage } from './page.js';

const EXPECTED = readFileSync(join(PROJECT, 'test/fixtures/metrics-page.txt'), 'utf8');

const TYPESCRIPT = 'sdk/typescript/examples/shop.js';

describe('the common example of metrics with labels', function () {
  this.slow(10_000);
  const programs = testPrograms();

  const compiled = (compiler: string, standard: string, source: string): string => {
    const binary = programs.path(`shop-${standard}`);
    const words = [`-std=${standard}`, '-Wall', '-Wextra', '-pedantic', '-Werror', '-pthread'];
    const file = join(PROJECT, 'sdk/c', source);
    const { stderr } = spawnSync(compiler, [...words, '-o', binary, file], { encoding: 'utf8' });
    expect(stderr).to.equal('');
    return binary;
  };

  /** The programs. Each takes a server key and a context id, and writes a line "ready" to stderr. */
  const languages: Readonly<Record<string, () => readonly string[]>> = {
    C: () => [compiled('cc', 'c11', 'shop.c')],
    'C++17': () => [compiled('c++', 'c++17', 'shop.cpp')],
    'C++20': () => [compiled('c++', 'c++20', 'shop.cpp')],
    TypeScript: () => [
      ...['env', `NODE_PATH=${join(PROJECT, 'dist')}`, process.execPath],
      // In its own folder, the name of the package would refer to the sources.
      programs.write('shop.cjs', readFileSync(join(PROJECT, TYPESCRIPT), 'utf8')),
    ],
    Python: () => [
      ...['env', `PYTHONPATH=${join(PROJECT, 'sdk/python')}`, 'python3'],
      join(PROJECT, 'sdk/python/examples/shop.py'),
    ],
  };
  const start = async (language: string, key: string): Promise<Running> => {
    const words = languages[language]?.() ?? [];
    const program = programs.command([...words, key, programs.contextId]);
    await program.line(/^ready$/m);
    return program;
  };
  const pageOf = async (key: string): Promise<string> =>
    applicationPart(
      await readyPage(await programs.exporter({ app: 'shop', server_keys: [key] }).url()),
    );

  for (const language of Object.keys(languages))
    it(`in ${language} has the expected page, and ends at SIGTERM`, async () => {
      const key = `page-${language.replaceAll('+', 'p')}`;
      const program = await start(language, key);
      expect(await pageOf(key)).to.equal(EXPECTED);
      expect(await program.stop('SIGTERM')).to.deep.equal({ status: 0, signal: null });
      expect(program.stderr).to.equal('ready\n');
      expect(programs.segments().filter((name) => name.endsWith(key))).to.deep.equal([]);
    });

  it('passes the linter of Prometheus', function () {
    needsPrograms(this, 'promtool');
    expect(promtoolLines(EXPECTED)).to.deep.equal([]);
  });
});
