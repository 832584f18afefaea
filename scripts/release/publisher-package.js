// Writes the npm package of the publisher library, with an addon for each architecture.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ARCHITECTURES, buildAddon } from '../addon.js';
import { CONTAINED, NAME, PACKAGE, writeManifest } from '../publisher-package.js';
import { billOfMaterials } from './bill-of-materials.js';
import { writeLicenses } from './licenses.js';

/** Writes the folder that npm expects in the archive, under the name `package`. */
export function writePublisherRelease(target, packages, release) {
  const contained = packages.filter(({ name }) => CONTAINED.includes(name));
  cpSync(PACKAGE, target, { recursive: true });
  for (const architecture of ARCHITECTURES) buildAddon(join(target, 'prebuilds'), architecture);
  for (const name of ['CHANGELOG.md', 'LICENSE']) cpSync(name, join(target, name));
  writeLicenses(join(target, 'licenses'), contained);
  const subject = { name: NAME, type: 'library' };
  const bill = billOfMaterials(contained, release, false, subject);
  writeFileSync(join(target, 'sbom.cdx.json'), bill);
  const manifest = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
  writeManifest(target, { ...manifest, version: release.version });
}
