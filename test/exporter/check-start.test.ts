// Tests that a rejected start reports all mistakes in all files together.
import { expect } from 'chai';
import type { Arguments } from '#app/config/arguments.js';
import { loadConfig } from '#app/config/resolve.js';
import { checkReload, checkStart } from '#app/exporter/check-start.js';
import { issueLicense } from '#app/license/issue-license.js';
import { makeKeyPair } from '#app/license/license-keys.js';
import { faultMessage } from '../support/fault-message.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const NOW = new Date('2026-01-15T00:00:00Z');
const DAY_MS = 86_400_000;

describe('the configuration check', () => {
  const folder = temporaryFolder();
  const given = (files: Partial<Arguments>): Arguments => ({ overrides: {}, ...files });
  const check = (files: Partial<Arguments>) => checkStart(given(files), NOW);
  const license = (expiresAt: number) =>
    folder.write(
      'license.json',
      issueLicense({
        licensee: 'A',
        issuedAt: new Date(NOW.getTime() - 9 * DAY_MS),
        expiresAt: new Date(expiresAt),
      }),
    );

  /** Returns the codes and lines of all faults. */
  function refusals(files: Partial<Arguments>) {
    const start = check(files);
    if (start.kind === 'accepted') return [];
    return start.faults.map(({ code, message }) => ({
      code,
      lines: folder
        .bare(message)
        .split('\n')
        .map((line) => line.replace(/, allowed.*/, '')),
    }));
  }

  it('accepts a valid configuration with a valid license', () => {
    license(NOW.getTime() + DAY_MS);
    const start = check({ configFile: folder.write('c.toml', 'license_file = "license.json"') });
    expect(start.kind).to.equal('accepted');
    if (start.kind === 'accepted') expect(start.license.state).to.equal('valid');
  });

  it('reports mistakes in values, targets, filters, catalogues and license together', () => {
    license(NOW.getTime() - 3 * DAY_MS);
    folder.write('own.toml', 'app = "shop"\n');
    const configFile = folder.write(
      'c.toml',
      'debug = 1\nlicense_file = "license.json"\ncatalogue_files = ["own.toml", "none.toml"]\n' +
        '[[targets]]\napp = "ads"\n' + // This target lacks a server key, so its other keys are not checked.
        '[[targets]]\napp = "ads"\nserver_key = "1"\nclasses = ["servr", 5]\nseed_paths = ["a{"]\n',
    );
    const [config, refused, ...more] = refusals({ configFile });
    expect(config).to.deep.equal({
      code: 'CONFIG_INVALID',
      lines: [
        'c.toml:1:9: debug (--debug): found 1 (write true)',
        'c.toml:3:32: catalogue_files[1]: none.toml: cannot be read: no such file or folder',
        'c.toml:4:1: targets[0].server_key: found nothing, needed: a string of 1 to 64 letters, digits, "_", "-" and ".", not starting with "."',
        'c.toml:9:12: targets[1].classes[0]: found "servr" (did you mean "server"?)',
        'c.toml:9:21: targets[1].classes[1]: found 5',
        'c.toml:10:15: targets[1].seed_paths[0]: "a{" has a stray brace',
        'own.toml:1:1: classes: found nothing, needed: an array of [[classes]] tables, which may be empty',
      ],
    });
    expect(refused?.code).to.equal('LICENSE_REJECTED');
    expect(refused?.lines[0]).to.match(
      /^c\.toml:2:16: license_file \(--license-file\): License file license\.json: license \S+ expired at /,
    );
    expect(more).to.deep.equal([]);
  });

  it('reports the position of each mistake in the web configuration', () => {
    license(NOW.getTime() + DAY_MS);
    folder.write('web.yml', 'basic_auth_users: {alice: secret}\n');
    const settings = 'license_file = "license.json"\nweb_config_file = "web.yml"\n';
    const [refused] = refusals({ configFile: folder.write('c.toml', settings) });
    expect(refused?.code).to.equal('CONFIG_INVALID');
    expect(refused?.lines[0]).to.match(
      /^web\.yml:1:\d+: basic_auth_users\.alice: found no hash, perhaps the password itself/,
    );
  });

  it('accepts a license that was signed with a key in license_keys_dir', () => {
    makeKeyPair(folder.path('keys'), 'acme');
    const terms = { licensee: 'A', issuedAt: NOW, expiresAt: new Date(NOW.getTime() + DAY_MS) };
    const signed = issueLicense({ ...terms, keyFile: folder.path('keys/acme.key.pem') });
    folder.write('license.json', signed);
    const config = (keys: string) =>
      folder.write('c.toml', `license_file = "license.json"\nlicense_keys_dir = ${keys}\n`);
    expect(refusals({ configFile: config('"keys"') })).to.deep.equal([]);
    const [unknown] = refusals({ configFile: config('"none"') });
    expect(unknown?.lines[0]).to.match(/names the unknown key "acme"; the trusted keys are: eval/);
    // Without the keys, the license cannot be checked, so there is no error about it.
    const [invalid, ...more] = refusals({ configFile: config('1') });
    expect({ code: invalid?.code, more }).to.deep.equal({ code: 'CONFIG_INVALID', more: [] });
  });

  it('checks the targets file and the license of --license-file even if the TOML file is invalid', () => {
    const files = {
      configFile: folder.write('c.toml', 'debug =\n'),
      targetsFile: folder.write('t.txt', 'target app\ntarget app=ads server_key=1 classes=servr\n'),
      overrides: { licenseFile: folder.path('none.json') },
    };
    expect(refusals(files).map(({ lines }) => lines)).to.deep.equal([
      [
        'c.toml:1:8: expected a value (strings need quotes), found the end of the line',
        '  debug =',
        '         ^',
        't.txt:1:8: found "app" without "="',
        't.txt:2:37: targets[0].classes[0]: found "servr" (did you mean "server"?)',
      ],
      [
        '--license-file (license_file): License file none.json cannot be read: no such file or folder',
      ],
    ]);
  });

  it('reports only one mistake if the configuration file is a catalogue', () => {
    const text = 'app = "shop"\nrot = 1\n[[classes]]\nalias = "till"\nclass_ids = ["Till"]\n';
    expect(refusals({ configFile: folder.write('shop.toml', text) })).to.deep.equal([
      {
        code: 'CONFIG_INVALID',
        lines: [
          'shop.toml:3:1: found [[classes]] tables, so this looks like a catalogue; add its path to catalogue_files in a configuration file',
        ],
      },
    ]);
  });

  it('reports a wrong value, but no further mistake that the value causes', () => {
    const wrong = 'license_file = 1\napp = 2\nclasses = ["anything"]\n';
    expect(refusals({ configFile: folder.write('c.toml', wrong) })).to.deep.equal([
      {
        code: 'CONFIG_INVALID',
        lines: [
          'c.toml:1:16: license_file (--license-file): found 1',
          'c.toml:2:7: app (--app): found 2',
        ],
      },
    ]);
  });

  it('returns the warnings of the configuration even if the license is rejected', () => {
    const start = check({ configFile: folder.write('c.toml', 'app = "asd"') });
    expect(start.kind === 'refused' && start.faults.map(({ exit }) => exit)).to.deep.equal([3]);
    expect(start.warnings).to.have.lengthOf(1);
  });

  const started = () => loadConfig(given({})).settings;

  it('rejects mistakes at a reload, but does not check the license in use again', () => {
    const configFile = folder.write('c.toml', 'debug = 1\nclasses = ["servr"]');
    const message = faultMessage('CONFIG_INVALID', () =>
      checkReload(given({ configFile }), started(), NOW),
    );
    expect(message.split('\n')).to.have.lengthOf(2);
    folder.write('c.toml', 'classes = ["server"]');
    expect(checkReload(given({ configFile }), started(), NOW).plan).to.have.lengthOf(1);
  });

  it('rejects a reload with a new license that a start would reject', () => {
    license(NOW.getTime() - 3 * DAY_MS);
    const configFile = folder.write('c.toml', 'license_file = "license.json"\n');
    const reload = () => checkReload(given({ configFile }), started(), NOW);
    expect(folder.bare(faultMessage('LICENSE_REJECTED', reload))).to.match(
      /^c\.toml:1:16: license_file \(--license-file\): License file license\.json: license \S+ expired at /,
    );
    folder.write('c.toml', 'license_file = "license.json"\ndebug = 1\n');
    expect(faultMessage('CONFIG_INVALID', reload)).to.match(/debug.*\n.*license_file/);
    license(NOW.getTime() + DAY_MS);
    folder.write('c.toml', 'license_file = "license.json"\n');
    expect(reload().plan).to.have.lengthOf(1);
  });
});
