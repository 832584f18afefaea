// Tests the checks, before the start, of the applications, classes, groups and catalogue files that a
// configuration names.
import { expect } from 'chai';
import { loadConfig } from '#app/config/resolve.js';
import { planTargets } from '#app/exporter/plan.js';
import { FORMATS } from '#app/targets/formats.js';
import { faultMessage } from '../support/fault-message.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const OWN = `app = "shop"
seed_path_groups.front = ["floor"]
[[classes]]
alias = "till"
class_ids = ["Till"]
paths = ["floor.{till}"]
metrics = []
`;

describe('the target check', () => {
  const folder = temporaryFolder();
  const load = (toml: string, targets?: string) =>
    loadConfig({
      configFile: folder.write('c.toml', toml),
      targetsFile: targets === undefined ? undefined : folder.write('t.txt', targets),
      overrides: {},
    });
  const refusal = (toml: string, targets?: string) =>
    folder
      .bare(faultMessage('CONFIG_INVALID', () => planTargets(load(toml, targets))))
      .split('\n')
      // Omit the lists of allowed names, which depend on the catalogues.
      .map((line) => line.replace(/(allowed for the application \w+: \w+), .*/, '$1, …'));

  it('finds the catalogue of each target among built-in catalogues and catalogue files', () => {
    folder.write('own.toml', OWN);
    const plan = planTargets(
      load(
        'catalogue_files = ["own.toml"]\n' +
          '[[targets]]\napp = "shop"\nserver_key = "1"\nclasses = ["till"]\n' +
          '[[targets]]\napp = "adh"\nserver_key = "2"\n' +
          '[[targets]]\napp = "mine"\nserver_key = "3"\nseed_paths = ["a"]\n',
      ),
    );
    expect(plan.map(({ catalogue }) => catalogue?.app)).to.deep.equal(['shop', 'adh', undefined]);
    expect(plan.flatMap(({ warnings }) => warnings)).to.deep.equal([]);
    expect(plan[0]?.catalogue?.source).to.deep.equal({ file: folder.path('own.toml'), text: OWN });
  });

  it('reports the mistakes of all targets in the order of the file, each with its position', () =>
    expect(
      refusal(
        '[[targets]]\napp = "ads"\nserver_key = "1"\nseed_paths = ["ok", "a.{"]\nclasses = ["servr"]\n' +
          '[[targets]]\napp = "adh"\nserver_key = "2"\nseed_path_groups = [\n  "helth",\n]\n',
      ),
    ).to.deep.equal([
      'c.toml:4:21: targets[0].seed_paths[1]: "{" has a stray brace, allowed: a name, {label} or {label~expression}',
      'c.toml:5:12: targets[0].classes[0]: found "servr" (did you mean "server"?), allowed for the application ads: process, …',
      'c.toml:10:3: targets[1].seed_path_groups[0]: found "helth" (did you mean "health"?), allowed for the application adh: health, …',
    ]));

  it('warns of path labels that no metric would have', () => {
    const shown = 'show_uncatalogued = true\n';
    const warnings = (more: string) =>
      planTargets(load(`app = "adh"\npath_labels = ["{a}"]\n${more}`)).flatMap(
        (each) => each.warnings,
      );
    expect(warnings('').map((each) => folder.bare(each))).to.deep.equal([
      'c.toml:2:15: path_labels: has no effect while show_uncatalogued is false, since adh has a catalogue',
    ]);
    expect(warnings(shown)).to.deep.equal([]);
  });

  it('rejects path labels that no pattern can give, each with its position', () => {
    const head = '[[targets]]\napp = "mine"\nserver_key = "1"\n';
    expect(refusal(`${head}path_labels = ["{a}", "b"]\n`)).to.deep.equal([
      'c.toml:4:23: targets[0].path_labels[1]: "b" has no {label}, allowed: names separated by dots, at least one of them a {label}',
    ]);
    expect(refusal('path_labels = ["{object}"]\n')).to.deep.equal([
      'c.toml:1:16: path_labels[0]: the labels object and value are reserved for series without a catalogue row',
    ]);
  });

  it('rejects an unknown format, and suggests the nearest known one', () =>
    expect(refusal('[[targets]]\napp = "ads"\nserver_key = "1"\nformat = "nativ"\n')).to.deep.equal(
      [
        'c.toml:4:10: targets[0].format: found "nativ" (did you mean "native"?), allowed: ' +
          [...FORMATS.keys()].join(' or '),
      ],
    ));

  describe('rejects a format that does not belong to the application,', () => {
    const target = (keys: string) => `[[targets]]\nserver_key = "1"\n${keys}`;
    const rows = [
      [
        'app = "jvm"',
        'c.toml:1:7: app (--app): found "jvm" with the format native, allowed: format = "hsperfdata"',
      ],
      [
        target('app = "jvm"'),
        'c.toml:3:7: targets[0].app: found "jvm" with the format native, allowed: format = "hsperfdata"',
      ],
      [
        target('app = "varnish"\nformat = "native"'),
        'c.toml:3:7: targets[0].app: found "varnish" with the format native, allowed: format = "varnish"',
      ],
      [
        target('app = "jvm"\nformat = "varnish"'),
        'c.toml:4:10: targets[0].format: found "varnish" with the app jvm, allowed: format = "hsperfdata" or app = "varnish"',
      ],
      [
        target('app = "ads"\nformat = "hsperfdata"'),
        'c.toml:4:10: targets[0].format: found "hsperfdata" with the app ads, allowed: app = "jvm"',
      ],
      [
        target('app = "shop"\nformat = "varnish"'),
        'c.toml:4:10: targets[0].format: found "varnish" with the app shop, allowed: app = "varnish"',
      ],
      [
        'format = "varnish"',
        'c.toml:1:10: format: found "varnish" with the app ads, allowed: app = "varnish"',
      ],
    ] as const;
    for (const [toml, line] of rows)
      it(`as in ${toml.split('\n').join(', ')}`, () => expect(refusal(toml)).to.deep.equal([line]));

    it('even if the application is an option of the command line', () => {
      const config = loadConfig({ overrides: { app: 'jvm' } });
      expect(faultMessage('CONFIG_INVALID', () => planTargets(config))).to.equal(
        '--app (app): found "jvm" with the format native, allowed: format = "hsperfdata" in the file of --config',
      );
    });

    it('even in the legacy target file', () =>
      expect(refusal('debug = true', 'target app=jvm server_key=1\n')).to.deep.equal([
        't.txt:1:12: targets[0].app: found "jvm" with the format native, allowed: format = "hsperfdata"',
      ]));

    it('but accepts the right format in the legacy target file, even with a user catalogue', () => {
      const jvm = folder.write('jvm.toml', 'app = "jvm"\nclasses = []\n');
      const text =
        'target app=jvm server_key=1 format=hsperfdata\ntarget app=varnish server_key=2 format=varnish\n';
      const plan = planTargets(load(`catalogue_files = ["${jvm}"]`, text));
      expect(plan.flatMap(({ warnings }) => warnings)).to.deep.equal([]);
    });

    it('but only warns if there is a user catalogue for the application', () => {
      folder.write('own.toml', 'app = "jvm"\nclasses = []\n');
      const [plan] = planTargets(load('app = "jvm"\ncatalogue_files = ["own.toml"]\n'));
      expect(plan?.warnings.map(folder.bare)).to.deep.equal([
        'c.toml:1:7: app (--app): found "jvm" with the format native, allowed: format = "hsperfdata"',
      ]);
    });
  });

  it('rejects settings for a format that has no settings, each with its position', () =>
    expect(
      refusal('[[targets]]\napp = "ads"\nserver_key = "1"\nformat_settings = { users = ["a"] }\n'),
    ).to.deep.equal(['c.toml:4:1: targets[0].format_settings: the format native has no settings']));

  it('rejects unknown settings of a format and invalid values, each with its position', () =>
    expect(
      refusal(
        '[[targets]]\napp = "jvm"\nserver_key = "jvm"\nformat = "hsperfdat"\n' +
          '[[targets]]\napp = "jvm"\nserver_key = "jvm2"\nformat = "hsperfdata"\n' +
          'format_settings = { user = ["a"], directories = ["tmp"], containers = 1 }\n',
      ),
    ).to.deep.equal([
      `c.toml:4:10: targets[0].format: found "hsperfdat" (did you mean "hsperfdata"?), allowed: ${[...FORMATS.keys()].join(' or ')}`,
      'c.toml:9:21: targets[1].format_settings.user: unknown key (did you mean "users"?)',
      'c.toml:9:50: targets[1].format_settings.directories[0]: found "tmp", allowed: an absolute path whose last part may contain *',
      'c.toml:9:71: targets[1].format_settings.containers: found 1 (write true), allowed: true or false',
    ]));

  it('rejects an unknown name style and an invalid directory for Varnish', () =>
    expect(
      refusal(
        '[[targets]]\napp = "varnish"\nserver_key = "default"\nformat = "varnish"\n' +
          'format_settings = { directory = "/var/../lib", names = "cleen" }\n',
      ),
    ).to.deep.equal([
      'c.toml:5:33: targets[0].format_settings.directory: found "/var/../lib", allowed: an absolute path without "." or ".." as a part',
      'c.toml:5:56: targets[0].format_settings.names: found "cleen" (did you mean "clean"?), allowed: "compat" or "clean"',
    ]));

  it('reports mistakes of the legacy target file with positions in that file', () =>
    expect(
      refusal('debug = true', '# x\ntarget app=ads server_key=1 classes=server,servr\n'),
    ).to.deep.equal([
      't.txt:2:37: targets[0].classes[1]: found "servr" (did you mean "server"?), allowed for the application ads: process, …',
    ]));

  it('rejects filter groups for an application without a catalogue', () =>
    expect(refusal('app = "asd"\nseed_path_groups = ["server"]')).to.deep.equal([
      'c.toml:2:21: seed_path_groups[0]: found "server", but no catalogue defines a filter group for the application, allowed: published class ids, and seed_paths (did you mean "ads"?)',
    ]));

  const near = [
    ['asd', 'c.toml:1:7: app (--app): asd', 'ads'],
    ['shpo', 'c.toml:1:7: app (--app): shpo', 'shop'],
    ['Varnish', 'c.toml:1:7: app (--app): Varnish', 'varnish'],
  ] as const;
  for (const [app, found, nearest] of near)
    it(`suggests the application "${nearest}" for the unknown application "${app}"`, () => {
      folder.write('own.toml', OWN);
      const plan = planTargets(load(`app = "${app}"\ncatalogue_files = ["own.toml"]`));
      expect(plan[0]?.warnings.map(folder.bare)).to.deep.equal([
        `${found} has no catalogue (did you mean "${nearest}"?), so the exporter derives its metrics from the published variables`,
      ]);
    });

  it('reports mistakes of catalogue files with positions in these files, beside mistakes of targets', () => {
    folder.write('shop.toml', OWN.replace('["Till"]', '[]'));
    folder.write('text.toml', 'app = ');
    folder.write('binary.toml', Buffer.from([0x61, 0xff]));
    expect(
      refusal(
        'catalogue_files = ["shop.toml", "text.toml", "binary.toml", "none.toml", "."]\n' +
          '[[targets]]\napp = "shop"\nserver_key = "1"\nclasses = ["tills"]\n' +
          '[[targets]]\napp = "other"\nserver_key = "2"\nclasses = ["any"]\n',
      ),
    ).to.deep.equal([
      'c.toml:1:46: catalogue_files[2]: binary.toml:1:2: has bytes that are not UTF-8 text',
      'c.toml:1:61: catalogue_files[3]: none.toml: cannot be read: no such file or folder',
      `c.toml:1:74: catalogue_files[4]: ${folder.path()}: is a folder, needed: a regular file`,
      'c.toml:5:12: targets[0].classes[0]: found "tills" (did you mean "till"?), allowed for the application shop: till',
      'shop.toml:5:13: classes[0].class_ids: found an empty array, allowed: an array of at least 1 item, each a string of 1 to 1024 characters in one line',
      'text.toml:1:7: expected a value (strings need quotes), found the end of the file',
      '  app =',
      '        ^',
    ]);
  });

  it('reports a hundred mistakes and counts further mistakes', () => {
    const classes = Array.from({ length: 150 }, (_, index) => `"c${index}"`);
    const lines = refusal(`classes = [${classes.join(', ')}]`);
    expect(lines).to.have.lengthOf(101);
    expect(lines.at(-1)).to.equal('c.toml: and 50 more problems');
  });
});
