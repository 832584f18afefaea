// The software bill of materials of a release: CycloneDX in JSON, with what it holds and was made of.
import { createHash } from 'node:crypto';
import { NODE } from './node-binary.js';

/** The hash of an npm integrity, as CycloneDX writes it. */
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

/** The runtime; the hash is that of the registry's package, from which the release takes the binary. */
const ofNode = () => ({
  ...ofPackage({ ...NODE, name: NODE.package, license: 'MIT' }),
  type: 'application',
  description: 'Node.js, its binary stripped of symbols',
});

export function billOfMaterials(packages, { version, epoch }, holdsNode) {
  const purl = `pkg:generic/shm_exporter@${version}`;
  const components = [...packages.map(ofPackage), ...(holdsNode ? [ofNode()] : [])].sort((a, b) =>
    a.purl < b.purl ? -1 : 1,
  );
  // A package may be there twice, for two that need it.
  const distinct = [...new Map(components.map((each) => [each.purl, each])).values()];
  const program = { type: 'application', 'bom-ref': purl, name: 'shm_exporter', version, purl };
  const content = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: { ...program, licenses: [{ license: { id: 'Apache-2.0' } }] },
    },
    components: distinct,
    dependencies: [{ ref: purl, dependsOn: distinct.map((each) => each['bom-ref']) }],
  };
  return `${JSON.stringify({ ...content, serialNumber: serialOf(content) }, null, 2)}\n`;
}

/** A UUID that the content decides, in place of a random one. */
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
