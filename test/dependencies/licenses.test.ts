// Tests the licenses of the packages, and the check of their known vulnerabilities.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface Locked {
  readonly license?: string;
  readonly dev?: boolean;
}

/** Licenses that only require a copy of their text with each copy of the software. */
const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];
/** Licenses for packages that are not delivered with the exporter. */
const FOR_DEVELOPMENT = [...PERMISSIVE, 'BlueOak-1.0.0', 'MPL-2.0', 'PSF-2.0'];

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};

describe('The licenses of the locked packages', () => {
  it('are permissive; development tools may have other free licenses', () => {
    const wrong = Object.entries(packages)
      .filter(([path]) => path !== '')
      .filter(
        ([, { license = '', dev }]) => !(dev ? FOR_DEVELOPMENT : PERMISSIVE).includes(license),
      )
      .map(([path, { license = 'missing' }]) => `${path}: ${license}`);
    expect(wrong).to.deep.equal([]);
  });
});

describe('scripts/audit.js', () => {
  /** Returns the verdict of the script on a report of `npm audit`. */
  const verdict = (report: object): { readonly passes: boolean; readonly lines: string[] } => {
    const script = `import { verdict } from './scripts/audit.js'; console.log(JSON.stringify(verdict(process.argv[1])));`;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', script, JSON.stringify(report)],
      { encoding: 'utf8' },
    );
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as { passes: boolean; lines: string[] };
  };
  const weak = (severity: string) => ({
    auditReportVersion: 2,
    vulnerabilities: { a: { name: 'a', severity, range: '<1.2.3' } },
  });

  it('passes without a known vulnerability', () =>
    expect(verdict({ auditReportVersion: 2, vulnerabilities: {} })).to.deep.equal({
      passes: true,
      lines: ['npm audit reports no vulnerability of severity high or critical'],
    }));

  it('passes with a vulnerability of a lower severity', () =>
    expect(verdict(weak('moderate')).passes).to.equal(true));

  for (const severity of ['high', 'critical'])
    it(`fails for a vulnerability of severity ${severity}, and names it`, () =>
      expect(verdict(weak(severity))).to.deep.equal({
        passes: false,
        lines: [`${severity}: a <1.2.3`],
      }));

  it('reports that the registry does not answer', () =>
    expect(verdict({ message: '405 Method Not Allowed' })).to.deep.equal({
      passes: true,
      lines: ['npm audit did not answer: 405 Method Not Allowed'],
    }));
});
