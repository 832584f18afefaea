// The software bill of materials of a release, as CycloneDX JSON: the packages that the release contains.
import { createHash } from 'node:crypto';
import { NODE } from './node-binary.js';

/** Converts an npm integrity value to a CycloneDX hash. */
function hashOf(integrity) {
  const [algorithm, base64] = integrity.split('-');
  const alg = algorithm.toUpperCase().replace('SHA', 'SHA-');
  return { alg, content: Buffer.from(base64, 'base64').toString('hex') };
}

const ofPackage = ({ name, version, license, integrity }) => {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(integrity !== undefined && { hashes: [hashOf(integrity)] }),
    ...(license !== undefined && { licenses: [{ license: { id: license } }] }),
  };
};

/** The Node.js of the release. The hash is that of the npm package that contains the binary. */
const ofNode = () => ({
  ...ofPackage({ ...NODE, name: NODE.package, license: 'MIT' }),
  type: 'application',
  description: 'Node.js, its binary stripped of symbols',
});

const PROGRAMS = { name: 'shm_exporter', type: 'application' };

/** @param subject the released component: the programs, or a library */
export function billOfMaterials(packages, { version, epoch }, holdsNode, subject = PROGRAMS) {
  const purl = `pkg:generic/${subject.name}@${version}`;
  const components = [...packages.map(ofPackage), ...(holdsNode ? [ofNode()] : [])].sort((a, b) =>
    a.purl < b.purl ? -1 : 1,
  );
  // npm may install the same version of a package in several folders.
  const distinct = [...new Map(components.map((each) => [each.purl, each])).values()];
  const released = { ...subject, 'bom-ref': purl, version, purl };
  const content = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: { ...released, licenses: [{ license: { id: 'Apache-2.0' } }] },
    },
    components: distinct,
    dependencies: [{ ref: purl, dependsOn: distinct.map((each) => each['bom-ref']) }],
  };
  return `${JSON.stringify({ ...content, serialNumber: serialOf(content) }, null, 2)}\n`;
}

/** A UUID derived from the content, so that builds are reproducible. */
function serialOf(content) {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return `urn:uuid:${[...parts, hex.slice(20, 32)].join('-')}`;
}
