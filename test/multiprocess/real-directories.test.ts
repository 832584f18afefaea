// Compares the pages of directories that the libraries wrote with the libraries' own pages.
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  METRIC_LIBRARIES,
  PYTHON_0_16,
  RUBY,
  needsLibraries,
  runLibrary,
} from '../support/metric-libraries.js';
import type { MetricLibrary } from '../support/metric-libraries.js';
import { PROJECT } from '../support/processes.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { differences, familiesOf } from './compared-pages.js';
import { GAUGE_MODES, fileNameOf, readEntries, sizeOf, usedBytesOf } from './metric-directory.js';
import type { Dialect, GaugeMode, MetricFile, MetricType } from './metric-directory.js';
import { Oracle } from './oracles.js';
import { RECORDED_DIRECTORIES, extractRecorded, recordedFamilies } from './recorded-directories.js';
import { shownFamilies } from './shown-page.js';

/** Reads a file of a library, whose id may have underscores. */
function readFile(path: string, dialect: Dialect, stride: 8 | 16): MetricFile {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const [type = ''] = /^[a-z]+/.exec(name) ?? [];
  const mode = type === 'gauge' ? (/^gauge_([a-z]+)/.exec(name)?.[1] ?? '') : '';
  const prefix = type === 'gauge' ? `gauge_${mode}_` : `${type}_`;
  const id = name.slice(prefix.length, dialect === 'ruby' ? -'-0.db'.length : -'.db'.length);
  return {
    ...{ dialect, stride, id },
    type: type as MetricType,
    mode: mode as GaugeMode | '',
    entries: readEntries(dialect, readFileSync(path), stride),
  };
}

/** Writes a directory with the library, and returns the library's page of it. */
async function writtenBy(library: MetricLibrary, folder: string): Promise<string> {
  mkdirSync(folder);
  const isRuby = library === RUBY;
  const script = join(PROJECT, 'test/multiprocess', isRuby ? 'write.rb' : 'write.py');
  const variable = isRuby ? 'prometheus_multiproc_dir' : 'PROMETHEUS_MULTIPROC_DIR';
  runLibrary(library, [script], { [variable]: folder });
  const oracle = new Oracle(library);
  try {
    const answer = await oracle.pageOf({ path: folder });
    if ('error' in answer) throw new Error(answer.error);
    return isRuby ? answer.page : answer.page.replaceAll('pid="uw"', 'pid="uwsgi_worker_2"');
  } finally {
    await oracle.close();
  }
}

describe('a directory of metric files', function () {
  this.slow(10_000);
  const folder = temporaryFolder();

  for (const recorded of RECORDED_DIRECTORIES)
    describe(`that ${recorded.name} wrote`, () => {
      it('has the page that the library makes of it', () => {
        const directory = extractRecorded(recorded, folder.path('recorded'));
        const found = differences(recordedFamilies(recorded), shownFamilies(directory));
        expect(found).to.deep.equal([]);
      });

      it('consists of the bytes that the writer of the tests makes', () => {
        const directory = extractRecorded(recorded, folder.path('recorded'));
        const names = readdirSync(directory);
        const { dialect, stride } = recorded;
        const modes = new Set<string>();
        for (const name of names) {
          const file = readFile(join(directory, name), dialect, stride);
          const bytes = readFileSync(join(directory, name));
          const written = usedBytesOf(file);
          expect(fileNameOf(file)).to.equal(name);
          expect(bytes.subarray(0, written.length).equals(written), name).to.equal(true);
          expect(bytes.length, name).to.equal(sizeOf(dialect, written.length));
          if (file.mode !== '') modes.add(file.mode);
        }
        const missing = stride === 8 && dialect === 'python' ? /mostrecent/ : /^$/;
        const all = GAUGE_MODES[dialect].filter((mode) => !missing.test(mode));
        expect([...modes]).to.have.members(all);
      });
    });

  for (const library of METRIC_LIBRARIES)
    it(`has the same page if ${library.name} writes it now`, async function () {
      needsLibraries(this, library);
      const directory = folder.path('now');
      const page = await writtenBy(library, directory);
      expect(differences(familiesOf(page), shownFamilies(directory))).to.deep.equal([]);
    });

  it('has different entries in the two versions of prometheus_client', async function () {
    needsLibraries(this, PYTHON_0_16);
    const old = new Oracle(PYTHON_0_16);
    const directory = folder.path('new');
    const [, recorded] = RECORDED_DIRECTORIES;
    if (recorded === undefined) throw new Error('nothing is recorded');
    extractRecorded(recorded, directory);
    const answer = await old.pageOf({ path: directory });
    await old.close();
    expect(answer).to.have.property('error');
  });
});
