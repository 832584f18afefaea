// Tests docs/bridge.md and the deployed files against the code: example files, commands and settings.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArguments } from '#app/bridge/settings/configuration.js';
import { FAILURE_REASONS } from '#app/bridge/poll/fetch-body.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { COMPONENT, load } from './settings/bridge-files.js';
import { needsPrograms } from '../support/needs.js';

const SETUPS = 'examples/bridge';
const guide = readFileSync('docs/bridge.md', 'utf8');

describe('docs/bridge.md', () => {
  const folder = temporaryFolder();

  it('shows the example files unchanged', () => {
    const files = readdirSync(SETUPS).map((file) => readFileSync(join(SETUPS, file), 'utf8'));
    const shown = [...guide.matchAll(/^```toml\n(.*?)^```$/gms)].map(([, text]) => text);
    expect(shown).to.have.lengthOf(1);
    for (const text of shown) expect(files).to.include(text);
  });

  it('has only command lines that the bridge accepts', () => {
    const lines = [
      ...guide.matchAll(
        /(?:dist\/bin\/|--init-groups bin\/)shm_bridge(?:\.js)? (--.*?)(?: > \S+)?$/gm,
      ),
    ];
    expect(lines).to.have.lengthOf(4);
    for (const [, line = ''] of lines)
      expect(parseArguments(line.split(' '), '').kind, line).not.to.equal('print');
  });

  for (const reason of Object.keys(FAILURE_REASONS))
    it(`has a remedy for the failure "${reason}"`, () =>
      expect(guide).to.match(new RegExp(`^\\| \`${reason}\` \\| .+ \\|$`, 'm')));

  it('names only metrics that exist', () => {
    const pages = ['bridge-configuration', 'metrics']
      .map((page) => readFileSync(`docs/${page}.md`, 'utf8'))
      .join('');
    const names = new Set(
      [
        ...guide.matchAll(/\b(?:shm_bridge_(?:component|failure|oddity)|ads|adh)_[a-z_]+\b(?!\*)/g),
      ].map(([name]) => name),
    );
    expect(names).to.include('shm_bridge_component_up').and.include('ads_mount_info');
    for (const name of names)
      if (!name.endsWith('_')) expect(pages, name).to.match(new RegExp(`\`${name}[\`{]`));
  });

  it('has only recipes that are valid in a configuration', () => {
    const recipes = [...guide.matchAll(/^\| `(exclude_\w+ = \[.*?\])` \|/gm)];
    expect(recipes).to.have.lengthOf(4);
    for (const [, line = ''] of recipes) {
      const { components } = load(folder.write('c.toml', `${COMPONENT}${line}\n`));
      const excluded = components.flatMap((each) => [each.excludeClasses, each.excludeVariables]);
      expect(excluded.flat()).not.to.be.empty;
    }
  });
});

describe('The deploy folder', () => {
  const folder = temporaryFolder();
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] };
  const units = readdirSync('deploy').filter((file) => file.endsWith('.service'));

  it('is part of the package, like docs and examples', () =>
    expect(manifest.files).to.include.members(['deploy', 'docs', 'examples']));

  it('has a systemd unit for the bridge and one for the exporter', () =>
    expect(units).to.deep.equal(['shm_bridge.service', 'shm_exporter.service']));

  for (const unit of ['shm_bridge.service', 'shm_exporter.service']) {
    const text = readFileSync(join('deploy', unit), 'utf8');

    it(`has ${unit}, which refers to a program and a page of the package`, () => {
      const paths = [...text.matchAll(/\/opt\/shm_exporter\/(\S+)/g)].map(([, path = '']) => path);
      expect(paths).to.have.lengthOf(2);
      // In a release, the programs are in bin. Each wraps a script, which here is in dist/bin.
      for (const path of paths)
        expect(existsSync(path.replace(/^bin\/(.*)/, 'dist/bin/$1.js')), path).to.equal(true);
    });

    it(`has ${unit}, in which systemd finds no mistake`, function () {
      needsPrograms(this, 'systemd-analyze');
      // systemd-analyze requires the program to exist.
      const installed = text.replace(/\/opt\/shm_exporter\/bin\/(\w+)/, resolve('dist/bin/$1.js'));
      const copy = folder.write(unit, installed);
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', copy], {
        encoding: 'utf8',
      });
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    });
  }
});
