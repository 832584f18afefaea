// Tests the files of targets.d: which targets they add, and what a faulty file costs.
import { expect } from 'chai';
import { mkdirSync, rmdirSync, symlinkSync } from 'node:fs';
import { parseArguments } from '#app/config/arguments.js';
import { configHash, loadConfig } from '#app/config/resolve.js';
import { checkStart, leftOutLines } from '#app/exporter/check-start.js';
import { issueLicense } from '#app/license/issue-license.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const NOW = new Date('2026-01-15T00:00:00Z');
const target = (app: string, key: string, more = '') =>
  `[[targets]]\napp = "${app}"\nserver_key = "${key}"\n${more}`;

describe('the folder targets.d', () => {
  const folder = temporaryFolder();
  beforeEach(() => {
    mkdirSync(folder.path('targets.d'));
    const expiresAt = new Date(NOW.getTime() + 86_400_000);
    folder.write('l.json', issueLicense({ licensee: 'A', issuedAt: NOW, expiresAt }));
  });

  /** Starts with files by name. Returns the targets, warnings and messages about files that are left out. */
  function start(files: Readonly<Record<string, string>>, ...argv: readonly string[]) {
    for (const [name, text] of Object.entries({ 'c.toml': '', ...files })) folder.write(name, text);
    const given = ['--config', folder.path('c.toml'), '--license-file', folder.path('l.json')];
    const invocation = parseArguments([...given, ...argv], '1');
    if (invocation.kind === 'print') throw new Error('the arguments only print');
    const checked = checkStart(invocation.arguments, NOW, 'UTC');
    if (checked.kind === 'refused') throw checked.faults[0] ?? new Error('refused');
    const { config, plan, leftOut } = checked.planned;
    const targets = config.targets.map(({ app, serverKeys }) => `${app} ${serverKeys.join()}`);
    expect(
      plan.map(({ definition }) => `${definition.app} ${definition.serverKeys.join()}`),
    ).to.deep.equal(targets);
    return {
      targets,
      config,
      mode: config.mode,
      files: [...leftOut.keys()],
      lines: leftOutLines(checked.planned).map(folder.bare),
      warnings: checked.warnings.map(folder.bare).filter((line) => !line.includes('is empty')),
    };
  }

  it('adds the targets of its files, after those of the configuration and in the order of the names', () => {
    const { targets, lines, mode } = start({
      'c.toml': target('ads', '1'),
      'targets.d/b.toml': target('b', '2', 'show_uncatalogued = true\n') + target('b', '3'),
      'targets.d/a.toml': target('a', '4'),
      'targets.d/empty.toml': '# a template\n',
    });
    expect(targets).to.deep.equal(['ads 1', 'a 4', 'b 2', 'b 3']);
    expect(lines).to.deep.equal([]);
    expect(mode).to.equal('multi');
  });

  it('ignores other files, and files of editors, package managers and Kubernetes', () => {
    mkdirSync(folder.path('targets.d/..data'));
    folder.write('targets.d/..data/x.toml', target('a', '1'));
    symlinkSync('..data/x.toml', folder.path('targets.d/x.toml'));
    const names = ['.x.toml', '.#y.toml', 'y.toml.dpkg-new', 'y.toml~', 'README'];
    const others = Object.fromEntries(names.map((name) => [`targets.d/${name}`, '[']));
    expect(start(others)).to.deep.include({ targets: ['a 1'], lines: [], warnings: [] });
  });

  it('takes the settings of the configuration file', () => {
    const { config } = start({
      'c.toml': 'target_max_series = 7\n',
      'targets.d/a.toml': target('a', '1'),
    });
    expect(config.targets[0]?.targetMaxSeries).to.equal(7);
  });

  it('has no targets if it is empty, instead of the default target', () => {
    const { targets, warnings, mode } = start({ 'c.toml': 'log_level = "info"' });
    expect({ targets, mode }).to.deep.equal({ targets: [], mode: 'multi' });
    expect(warnings).to.deep.equal([
      'there is no target: add [[targets]], a file to targets.d, or [discover]',
    ]);
    expect(start({ 'c.toml': '[discover]\nvarnish = true' }).warnings).to.deep.equal([]);
  });

  const faulty: readonly (readonly [fault: string, text: string, line: string])[] = [
    [
      'is not TOML',
      '[[targets]]\napp = ads',
      'targets.d/b.toml:2:7: expected a value (strings need quotes), found "a"',
    ],
    [
      'has an invalid value',
      target('a b', '1'),
      'targets.d/b.toml:2:7: targets[0].app: found "a b" (did you mean "a_b"?), allowed: a string of 1 to 64 letters, digits and "_" that starts with a letter',
    ],
    [
      'has a setting of the configuration file',
      `debug = true\n${target('b', '1')}`,
      'targets.d/b.toml:1:1: debug: unknown key, allowed: only [[targets]]; other keys belong in the file of --config',
    ],
    [
      'has an unknown class',
      target('b', '1') + target('ads', '2', 'classes = ["servr"]\n'),
      'targets.d/b.toml:7:12: targets[1].classes[0]: ',
    ],
    [
      'has an unknown format',
      target('b', '1', 'format = "x"\n'),
      'targets.d/b.toml:4:10: targets[0].format: found "x", allowed: native or workers or multiprocess or hsperfdata or varnish',
    ],
    [
      'repeats a target of its own',
      target('b', '1').repeat(2),
      'targets.d/b.toml:4:1: targets[1]: repeats targets[0]; the two must differ',
    ],
    [
      'repeats a target of the configuration',
      target('b', '9') + target('ads', '1'),
      'targets.d/b.toml:4:1: targets[1]: repeats targets[0] at c.toml:1:1; the two must differ',
    ],
    [
      'repeats a target of a file before it',
      target('b', '9') + target('a', '2'),
      'targets.d/b.toml:4:1: targets[1]: repeats targets[0] at targets.d/a.toml:1:1; the two must differ',
    ],
    [
      'is larger than 64 KiB',
      `#${'x'.repeat(65_536)}`,
      'targets.d/b.toml: is larger than the limit of 64 KiB',
    ],
  ];
  for (const [fault, text, line] of faulty)
    it(`costs only the targets of a file that ${fault}`, () => {
      const { targets, lines, files } = start({
        'c.toml': target('ads', '1'),
        'targets.d/a.toml': target('a', '2'),
        'targets.d/b.toml': text,
        'targets.d/c.toml': target('c', '3'),
      });
      expect(targets).to.deep.equal(['ads 1', 'a 2', 'c 3']);
      expect(files).to.deep.equal(['targets.d/b.toml']);
      expect(lines[0]).to.equal('the targets of targets.d/b.toml are left out:');
      expect(lines.slice(1)).to.have.lengthOf(1);
      expect(lines[1]?.startsWith(line), lines[1]).to.equal(true);
    });

  it('does not keep other commands from reading the settings if a file is faulty', () => {
    folder.write('targets.d/b.toml', '[');
    const configFile = folder.write('c.toml', 'debug = true');
    expect(loadConfig({ configFile, overrides: {} }).settings.debug).to.equal(true);
  });

  it('takes a target that a faulty file before has, too', () => {
    const { targets, files } = start({
      'targets.d/a.toml': `${target('a', '1')}x = 1\n`,
      'targets.d/b.toml': target('a', '1'),
    });
    expect({ targets, files }).to.deep.equal({ targets: ['a 1'], files: ['targets.d/a.toml'] });
  });

  it('warns of two targets of different files that no request can tell apart, with both places', () => {
    const { targets, warnings } = start({
      'targets.d/a.toml': `# first\n${target('a', '1')}`,
      'targets.d/b.toml': target('a', '1', 'show_uncatalogued = true\n'),
    });
    expect(targets).to.deep.equal(['a 1', 'a 1']);
    expect(warnings).to.deep.equal([
      'targets.d/b.toml:1:1: targets[0] has the same server_key and app as targets[0] at targets.d/a.toml:2:1: no request can select just one of them',
    ]);
  });

  it('has at most 256 files', () => {
    const files = Object.fromEntries(
      Array.from({ length: 258 }, (_, index) => [
        `targets.d/${1000 + index}.toml`,
        target('a', String(index)),
      ]),
    );
    const { targets, lines } = start(files);
    expect(targets).to.have.lengthOf(256);
    expect(lines).to.deep.equal([
      'the targets of targets.d are left out:',
      'targets.d: has 258 files, allowed: 256; targets.d/1256.toml and all files after it are left out',
    ]);
  });

  it('has no file with which there would be more than 1024 targets', () => {
    const many = (app: string, count: number) =>
      Array.from({ length: count }, (_, index) => target(app, String(index))).join('');
    const { targets, lines } = start({
      'targets.d/a.toml': many('a', 1000),
      'targets.d/b.toml': many('b', 25),
      'targets.d/c.toml': many('c', 24),
    });
    expect(targets).to.have.lengthOf(1024);
    expect(lines).to.deep.equal([
      'the targets of targets.d/b.toml are left out:',
      'targets.d/b.toml:1:1: there would be 1025 targets, allowed: at most 1024',
    ]);
  });

  it('lists at most ten problems of a file', () => {
    const wrong = Array.from({ length: 50 }, (_, at) => `x${at} = 1\n`).join('');
    const { lines } = start({ 'targets.d/a.toml': target('a', '1', wrong) });
    expect(lines).to.have.lengthOf(12);
    expect(lines.at(-1)).to.equal('--check-config lists the other problems');
  });

  it('is one problem if it cannot be read', () => {
    rmdirSync(folder.path('targets.d'));
    const { targets, lines } = start({ 'c.toml': target('ads', '1'), 'targets.d': '' });
    expect(targets).to.deep.equal(['ads 1']);
    expect(lines).to.deep.equal([
      'the targets of targets.d are left out:',
      'targets.d: cannot be read: a part of its path is not a folder',
    ]);
  });

  for (const [option, name] of [
    [['--server-key', '1'], '--server-key (server_keys)'],
    [['--targets-config', 't.txt'], '--targets-config'],
  ] as const)
    it(`has no effect beside ${name}, with a warning`, () => {
      folder.write('t.txt', 'target app=ads server_key=1');
      const [option0, value] = option;
      const given = option0 === '--targets-config' ? folder.path(value) : value;
      const { targets, warnings, lines } = start({ 'targets.d/a.toml': '[' }, option0, given);
      expect(targets).to.deep.equal(['ads 1']);
      expect(lines).to.deep.equal([]);
      expect(warnings).to.include(`targets.d is ignored because of ${name}`);
    });

  it('changes the hash of the configuration by its targets, not by the names of its files', () => {
    const hash = (files: Readonly<Record<string, string>>) => configHash(start(files).config);
    const first = hash({ 'targets.d/a.toml': target('a', '1') });
    expect(hash({ 'targets.d/a.toml': target('a', '2') })).not.to.equal(first);
    expect(hash({ 'targets.d/a.toml': '', 'targets.d/b.toml': target('a', '1') })).to.equal(first);
  });
});
