// Tests the page of a directory of metric files over HTTP, in text and in OpenMetrics.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { expect } from 'chai';
import { fileBytes, pythonKey, rubyKey } from '../multiprocess/metric-bytes.js';
import { MODES } from '../support/modes.js';
import { testPrograms } from '../support/processes.js';
import { pageWith, readyPage, seriesKey, unready } from './page.js';

const openMetrics = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { accept: 'application/openmetrics-text; version=1.0.0', connection: 'close' };
    get(url, { agent: false, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.once('end', () => {
        resolve(body);
      });
    }).once('error', reject);
  });

describe('an exporter of metric files', () => {
  const programs = testPrograms();
  const key = seriesKey('req_total', { path: '/' });

  for (const mode of MODES)
    it(`shows sums that do not fall when a file is removed (${mode})`, async () => {
      const directory = programs.path(`metrics-${mode}`);
      const config = programs.config(
        { worker_execution_mode: mode, render_min_interval_ms: 1 },
        '[[targets]]\napp = "shop"\nserver_key = "shop"\nformat = "multiprocess"\n' +
          `format_settings = { directories = ["${directory}"] }\n`,
      );
      const exporter = programs.start('exporter', ['--config', config]);
      const url = `${await exporter.url()}?server_key=shop`;
      await unready(url, /there is no directory/);
      mkdirSync(directory, { mode: 0o755 });
      const write = (id: string, value: number): string => {
        const path = `${directory}/counter_${id}.db`;
        const entry = { key: pythonKey('req', 'req_total', { path: '/' }), value };
        writeFileSync(path, fileBytes([entry], 16, 65_536), { mode: 0o644 });
        return path;
      };
      const first = write('1', 3);
      write('2', 4);
      const hits = { key: rubyKey('hits'), value: 2 };
      writeFileSync(`${directory}/counter_1-0.db`, fileBytes([hits], 8), { mode: 0o644 });
      await pageWith(url, (page) => page.get(key) === '7', 'the sum of two files');
      write('1', 5);
      // A scrape shows what the files held before it.
      expect(await readyPage(url)).to.match(/^req_total\{path="\/"\} 9$/m);
      expect(await openMetrics(url)).to.match(
        /# TYPE req counter\n# HELP req Help of req\nreq_total\{path="\/"\} 9\n/,
      );
      // OpenMetrics has no counter without the suffix _total.
      expect(await openMetrics(url)).to.match(/# TYPE hits unknown\n.*\nhits 2\n/);
      rmSync(first);
      await pageWith(
        url,
        (page) => page.get('multiprocess_files{}') === '2',
        'the removal of a file',
      );
      expect(await readyPage(url)).to.match(/^req_total\{path="\/"\} 9$/m);
    });
});
