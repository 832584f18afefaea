// Tests the precedence of defaults, TOML and command line, the mode, and the warnings (spec 1.1, 1.5 to 1.7).
import { expect } from 'chai';
import { parseArguments } from '#app/config/arguments.js';
import { loadConfig } from '#app/config/resolve.js';
import { targetSettings } from '#app/config/settings.js';
import type { Config } from '#app/config/resolve.js';
import { faultMessage } from '../support/fault-message.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const TWO_TARGETS = `
[[targets]]
app = "ads"
server_key = "82"
classes = ["server"]

[[targets]]
app = "adh"
server_key = "456"
instance = "1"
`;

/** The application and server keys of targets. */
const outline = (config: Config) =>
  config.targets.map(({ app, serverKeys, path }) => ({ app, serverKeys, path }));

describe('loadConfig', () => {
  const folder = temporaryFolder();
  const load = (...argv: string[]) => {
    const invocation = parseArguments(argv, '0');
    if (invocation.kind === 'print') throw new Error('Nothing to load');
    return loadConfig(invocation.arguments);
  };
  const toml = (text: string) => ['--config', folder.write('c.toml', text)] as const;
  const legacy = (text: string) => ['--targets-config', folder.write('t.txt', text)] as const;
  const told = (config: Config) => config.warnings.map(folder.bare);

  it('uses a value in the TOML file instead of the default (spec 1.1)', () => {
    const { settings } = load(...toml('metrics_port = 1\ndebug = true'));
    expect(settings).to.include({ metricsPort: 1, debug: true, metricsPath: '/metrics' });
  });

  it('uses a value on the command line instead of the value in the TOML file (spec 1.1)', () => {
    const file = toml(
      'metrics_port = 1\napp = "adh"\ninstance = "1"\nserver_keys = ["1"]\nlicense_file = "/a"',
    );
    expect(load(...file).settings).to.deep.include({
      metricsPort: 1,
      app: 'adh',
      instance: '1',
      serverKeys: ['1'],
      licenseFile: '/a',
    });
    const options = '--metrics-port 2 --app ats --instance 2 --server-key 2 --license-file b';
    expect(load(...file, ...options.split(' ')).settings).to.deep.include({
      metricsPort: 2,
      app: 'ats',
      instance: '2',
      serverKeys: ['2'],
      licenseFile: 'b',
    });
  });

  it('applies --debug and --enable-metrics-http even if the TOML file sets their keys to false', () => {
    const file = toml('debug = false\nmetrics_http_enabled = false');
    expect(load(...file, '--debug', '--enable-metrics-http').settings).to.include({
      debug: true,
      metricsHttpEnabled: true,
    });
  });

  it('accepts "warn" as another name of the log level "warning", in the file and as an option', () => {
    expect(load(...toml('log_level = "warn"')).settings.logLevel).to.equal('warning');
    expect(load(...toml(''), '--log-level', 'warn').settings.logLevel).to.equal('warning');
  });

  it('returns one target from the top-level keys without [[targets]] (spec 1.5)', () => {
    const config = load(
      ...toml(
        'app = "adh"\ninstance = "1"\nvariable = "v"\nserver_keys = ["1", "2"]\n' +
          'classes = ["c"]\nseed_path_groups = ["g"]\nseed_paths = ["p"]\nshow_uncatalogued = true\npath_labels = ["{l}"]\npublisher_time_zone = "Asia/Tokyo"',
      ),
    );
    expect(config.mode).to.equal('single');
    expect(config.targets).to.deep.equal([
      {
        ...targetSettings(load().settings),
        app: 'adh',
        format: 'native',
        formatSettings: {},
        serverKeys: ['1', '2'],
        instance: '1',
        variable: 'v',
        classes: ['c'],
        seedPathGroups: ['g'],
        seedPaths: ['p'],
        showUncatalogued: true,
        pathLabels: ['{l}'],
        publisherTimeZone: 'Asia/Tokyo',
        path: [],
      },
    ]);
  });

  it('returns the default target without a file or options', () =>
    expect(outline(load())).to.deep.equal([
      { app: 'ads', serverKeys: ['82', '456', '999'], path: [] },
    ]));

  it('returns targets with their own server keys from [[targets]] (spec 1.5)', () => {
    const config = load(...toml(TWO_TARGETS));
    expect(config.mode).to.equal('multi');
    expect(outline(config)).to.deep.equal([
      { app: 'ads', serverKeys: ['82'], path: ['targets', 0] },
      { app: 'adh', serverKeys: ['456'], path: ['targets', 1] },
    ]);
    expect(config.targets[1]).to.deep.include({ instance: '1', classes: [], variable: '' });
  });

  it('switches to single-target mode and clears [[targets]] for --server-key (spec 1.6)', () => {
    const config = load(...toml(TWO_TARGETS), '--server-key', '7');
    expect(config.mode).to.equal('single');
    expect(outline(config)).to.deep.equal([{ app: 'ads', serverKeys: ['7'], path: [] }]);
    expect(told(config)).to.deep.equal([
      'c.toml:2:1: [[targets]] are ignored because of --server-key (server_keys); the single target has the application ads, from the default of app (--app)',
    ]);
  });

  const ignoredTargets: readonly (readonly [
    options: string,
    app: string,
    meant: readonly string[],
    head?: string,
  ])[] = [
    ['--server-key 82', 'ads, from the default of app (--app)', []],
    [
      '--server-key 456',
      'ads, from the default of app (--app)',
      ['c.toml:7:1: targets[1] has the application adh; to select it, add --app adh'],
    ],
    ['--server-key 456 --app adh', 'adh, from --app (app)', []],
    [
      '--server-key 82 --app adh',
      'adh, from --app (app)',
      ['c.toml:2:1: targets[0] has the application ads; to select it, add --app ads'],
    ],
    [
      '--instance 1',
      'ads, from the default of app (--app)',
      ['c.toml:7:1: targets[1] has the application adh; to select it, add --app adh'],
    ],
    ['--instance 1 --server-key 82', 'ads, from the default of app (--app)', []],
    [
      '--server-key 82',
      'ats, from app (--app)',
      ['c.toml:2:1: targets[0] has the application ads; to select it, add --app ads'],
      'app = "ats"',
    ],
  ];
  for (const [options, app, meant, head = ''] of ignoredTargets)
    it(`warns that ${`${head} ${options}`.trim()} selects a single target with the application ${app}`, () => {
      const config = load(...toml(`${head}${TWO_TARGETS}`), ...options.split(' '));
      const [first, ...others] = told(config);
      expect(first).to.match(/^c\.toml:2:1: \[\[targets\]\] are ignored because of --/);
      expect(first?.endsWith(`; the single target has the application ${app}`), first).to.equal(
        true,
      );
      expect(others).to.deep.equal(meant);
      expect(config.targets[0]?.app).to.equal(/^\w+/.exec(app)?.[0]);
    });

  const APART = 'no request can select just one of them';
  const MAYBE = `if they choose the same root, ${APART}; give each target its own instance`;
  const twins: readonly (readonly [one: string, other: string, sentence: string | undefined])[] = [
    ['', 'classes=server', APART],
    ['instance=1', 'instance=1 classes=server', APART],
    ['', 'instance=1', MAYBE],
    ['instance=1', 'classes=server', MAYBE],
    ['instance=1', 'instance=h.x.1.ads', MAYBE],
    ['instance=h.1.ads', 'instance=1', MAYBE],
    ['instance=1', 'instance=2', undefined],
    ['instance=g.1.ads', 'instance=h.1.ads', undefined],
    ['instance=1', 'instance=h.2.ads', undefined],
  ];
  for (const [one, other, sentence] of twins)
    it(`${sentence === undefined ? 'does not warn of' : 'warns of'} a target ${one === '' ? 'without further keys' : `with ${one}`} beside a target with ${other}${sentence === undefined ? '' : `: ${sentence}`}`, () => {
      const line = 'target app=ads server_key=82 ';
      expect(told(load(...legacy(`${line}${one}\n${line}${other}\n`)))).to.deep.equal(
        sentence === undefined
          ? []
          : [`t.txt:2:1: targets[1] has the same server_key and app as targets[0]: ${sentence}`],
      );
    });

  it('does not warn about targets with different server keys or applications', () =>
    expect(
      load(
        ...legacy(
          'target app=ads server_key=82\ntarget app=ads server_key=83\ntarget app=adh server_key=82',
        ),
      ).warnings,
    ).to.deep.equal([]));

  it('warns that a file is empty, and returns the defaults', () => {
    const config = load(...toml(' \n'));
    expect(told(config)).to.deep.equal(['c.toml: is empty, so it sets nothing']);
    expect(config.settings).to.deep.equal(load().settings);
  });

  it('switches to single-target mode for --instance, and keeps the server keys of TOML (spec 1.6)', () => {
    const config = load(...toml(`server_keys = ["5"]${TWO_TARGETS}`), '--instance', 'h.1.ads');
    expect(config.mode).to.equal('single');
    expect(outline(config)).to.deep.equal([{ app: 'ads', serverKeys: ['5'], path: [] }]);
    expect(config.targets[0]?.instance).to.equal('h.1.ads');
    expect(told(config)).to.deep.equal([
      'c.toml:2:1: [[targets]] are ignored because of --instance (instance); the single target has the application ads, from the default of app (--app)',
    ]);
  });

  it('replaces the targets of the TOML file, but not its scopes, for --targets-config (spec 1.7)', () => {
    const scope = '[[metric_scopes]]\nname = "a"\nmetrics = ["ads_*"]\n';
    const config = load(...toml(TWO_TARGETS + scope), ...legacy('target app=ats server_key=9'));
    expect(config.mode).to.equal('multi');
    expect(outline(config)).to.deep.equal([
      { app: 'ats', serverKeys: ['9'], path: ['targets', 0] },
    ]);
    expect(config.scopes).to.deep.equal([{ name: 'a', metrics: ['ads_*'] }]);
    expect(told(config)).to.deep.equal([
      'c.toml:2:1: [[targets]] are ignored because of --targets-config',
    ]);
  });

  it('warns that --app does not change [[targets]]', () => {
    const config = load(...toml(TWO_TARGETS), '--app', 'ats');
    expect(outline(config).map(({ app }) => app)).to.deep.equal(['ads', 'adh']);
    expect(told(config)).to.deep.equal(['--app (app) is ignored because of [[targets]]']);
  });

  it('warns of keys of the single target that have no effect beside [[targets]]', () =>
    expect(told(load(...toml(`variable = "v"\nserver_keys = ["1"]${TWO_TARGETS}`)))).to.deep.equal([
      'c.toml:1:1: variable is ignored because of [[targets]]',
      'c.toml:2:1: server_keys (--server-key) is ignored because of [[targets]]',
    ]));

  const idle: readonly (readonly [option: string, isOfHttp: boolean])[] = [
    ['--metrics-port (metrics_port) 1', true],
    ['--web.listen-address (metrics_listen_addresses) :1', true],
    ['--web.systemd-socket (metrics_systemd_socket)', true],
    ['--web.config.file (web_config_file) w.yml', true],
    ['--stdout-format (stdout_format) json', false],
  ];
  for (const [option, isOfHttp] of idle)
    it(`warns when ${option} has no effect`, () => {
      const [name = '', setting = '', ...value] = option.split(' ');
      const served = ['--enable-metrics-http'];
      const while_ = `while metrics_http_enabled (--enable-metrics-http) is ${!isOfHttp}`;
      const [vain, used] = isOfHttp ? [[], served] : [served, []];
      expect(load(name, ...value, ...vain).warnings).to.deep.equal([
        `${name} ${setting} has no effect ${while_}`,
      ]);
      expect(load(name, ...value, ...used).warnings).to.deep.equal([]);
    });

  it('resolves relative paths in the file, but not in options, from the folder of the file', () => {
    const file = toml(
      'license_file = "l.json"\nlicense_keys_dir = "keys"\ncatalogue_files = ["../x.toml", "/y.toml"]',
    );
    const { settings } = load(...file);
    expect(settings.licenseFile).to.equal(folder.path('l.json'));
    expect(settings.licenseKeysDir).to.equal(folder.path('keys'));
    expect(load(...toml('license_keys_dir = ""')).settings.licenseKeysDir).to.equal('');
    expect(settings.catalogueFiles).to.deep.equal([folder.path('../x.toml'), '/y.toml']);
    expect(load(...file, '--license-file', 'l.json').settings.licenseFile).to.equal('l.json');
  });

  describe('.at()', () => {
    const at = (config: Config, ...path: (string | number)[]) => folder.bare(config.at(path));

    it('returns the position of a value in the TOML file', () => {
      const config = load(...toml(`classes = [ "x" ]${TWO_TARGETS}`));
      expect(at(config, 'classes', 0)).to.equal('c.toml:1:13');
      expect(at(config, 'targets', 0, 'classes', 0)).to.equal('c.toml:5:12');
      expect(at(config, 'targets', 1, 'instance')).to.equal('c.toml:10:12');
    });

    it('returns the position of the table header for a missing key', () =>
      expect(at(load(...toml(TWO_TARGETS)), 'targets', 1, 'classes')).to.equal('c.toml:7:1'));

    it('returns the position of a target in the legacy target file', () => {
      const text = '# x\ntarget app=ats server_key=9 classes=a,b';
      const config = load(...toml(TWO_TARGETS), ...legacy(text));
      expect(at(config, 'targets', 0, 'app')).to.equal('t.txt:2:12');
      expect(at(config, 'targets', 0, 'classes', 1)).to.equal('t.txt:2:37');
    });

    it('returns an empty string for defaults and for options', () => {
      const config = load(...toml('app = "adh"\ndebug = true'), '--app', 'ats');
      expect(at(config, 'app')).to.equal('');
      expect(at(config, 'metrics_port')).to.equal('');
      expect(at(config, 'debug')).to.equal('c.toml:2:9');
      expect(load().at(['app'])).to.equal('');
    });
  });

  it('returns a deeply frozen object', () => {
    const frozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(frozen));
    const scope = '[[metric_scopes]]\nname = "a"\nmetrics = ["x"]\n';
    expect(frozen(load(...toml(TWO_TARGETS + scope)))).to.equal(true);
    expect(frozen(load('--server-key', '1'))).to.equal(true);
  });

  it('rejects a file with mistakes even if options replace its targets', () =>
    expect(
      faultMessage('CONFIG_INVALID', () => load(...toml('[[targets]]'), '--server-key', '1')),
    ).to.include('c.toml:1:1: targets[0].app: found nothing'));
});

describe('the tables of targets that the exporter finds itself', () => {
  const folder = temporaryFolder();
  const load = (text: string, ...argv: string[]) => {
    const invocation = parseArguments(['--config', folder.write('c.toml', text), ...argv], '0');
    if (invocation.kind === 'print') throw new Error('Nothing to load');
    const { mode, targets, discover, hostPage, warnings } = loadConfig(invocation.arguments);
    const { native, forgetAfterSeconds } = discover;
    return {
      ...{ mode, targets: targets.length, native, forgetAfterSeconds, hostPage: hostPage.enabled },
      warnings: warnings.map(folder.bare),
    };
  };

  it('replace the single target, and enable the host page', () =>
    expect(load('[discover]\nnative = ["a*"]\nforget_after_seconds = 5\n')).to.deep.equal({
      ...{ mode: 'multi', targets: 0, native: ['a*'], forgetAfterSeconds: 5, hostPage: true },
      warnings: [],
    }));

  it('add to [[targets]]', () =>
    expect(
      load('[discover]\nvarnish = true\n[[targets]]\napp = "ads"\nserver_key = "1"\n'),
    ).to.include({ mode: 'multi', targets: 1, hostPage: true }));

  it('are ignored with a warning if an option selects the single target', () =>
    expect(load('[discover]\nnative = ["*"]\n', '--server-key', '1')).to.deep.equal({
      ...{ mode: 'single', targets: 1, native: [], forgetAfterSeconds: 30, hostPage: false },
      warnings: ['c.toml:1:1: [discover] is ignored because of --server-key (server_keys)'],
    }));

  it('warn if they find nothing, and of keys of the single target', () =>
    expect(load('app = "adh"\n[discover]\n').warnings).to.deep.equal([
      'c.toml:2:1: [discover] finds nothing: set native, hsperfdata or varnish',
      'c.toml:1:1: app (--app) is ignored because of [discover]',
    ]));

  it('leave the host page to its own table', () => {
    expect(load('[host_page]\nenabled = true\n')).to.include({ mode: 'single', hostPage: true });
    expect(load('')).to.include({ mode: 'single', hostPage: false });
  });
});
