// The report of --check-config --live about existing segments.
import { expect } from 'chai';
import { loadConfig } from '#app/config/resolve.js';
import { liveCheck } from '#app/exporter/live/live-check.js';
import { planTargets } from '#app/exporter/plan.js';
import type { Publisher } from '#app/native/publisher/publisher.js';
import { freshSegments } from '../../support/segments.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const SHOP = `app = "shop"
seed_path_groups.front = ["floor"]
seed_path_groups.back = ["store"]
[[classes]]
alias = "till"
class_ids = ["Till"]
paths = ["floor.{till}"]
metrics = [
  { name = "shop_till_sales_total", type = "counter", help = "H", var = "sales" },
  { name = "shop_till_bills", type = "gauge", help = "H", var = "bill" },
  { name = "shop_till_wait_seconds", type = "histogram", help = "H", var = "waits" },
  { name = "shop_till_port_bytes", type = "gauge", help = "H", var = "bytes.{port}" },
  { name = "shop_till_clerk_info", type = "info", help = "H", labels_from = { clerk = "clerk", badge = "badge" } },
]
[[classes]]
alias = "shelf"
class_ids = ["Shelf"]
paths = ["store.{shelf}"]
metrics = [{ name = "shop_shelf_items", type = "gauge", help = "H", var = "items" }]
`;

describe('the live check', () => {
  const folder = temporaryFolder();
  const segments = freshSegments();

  function check(toml: string, shop = SHOP): string[] {
    folder.write('shop.toml', shop);
    const head = `context_id = "${segments.contextId}"\ncatalogue_files = ["shop.toml"]\n`;
    const config = loadConfig({ configFile: folder.write('c.toml', head + toml), overrides: {} });
    const { lines } = liveCheck(
      { config, plan: planTargets(config), leftOut: new Map(), warnings: [] },
      (key) => segments.poller(key),
    );
    return lines.map((line) => folder.bare(line).replaceAll(segments.contextId, 'test'));
  }
  const target = (more = '') => `[[targets]]\napp = "shop"\nserver_key = "1"\n${more}`;

  /** Publishes two tills, with variables that rows read, misspell and omit. */
  function open(publisher: Publisher): void {
    const root = publisher.addRoot('h.1.shop', 'Root');
    for (const number of [1, 2]) {
      const till = publisher.addObject(root, `h.1.shop.floor.t${number}`, 'Till');
      for (const [name, type] of [
        ['sales', 'u64'],
        ['bills', 'u64'],
        ['waits', 'string'],
        ['clerk', 'string'],
        ['spare', 'u64'],
      ] as const)
        publisher.addVariable(till, name, type);
    }
  }

  it('counts variables without a row as metrics if show_uncatalogued is true', () => {
    open(segments.publish('1'));
    const without = (lines: readonly string[]) =>
      lines.filter((line) => line.includes('variables without a row'));
    expect(without(check(target()))).to.have.lengthOf(1);
    const lines = check(
      target('show_uncatalogued = true\n') +
        '[[metric_scopes]]\nname = "spare"\nmetrics = ["shop_till_spare"]\n' +
        '[[metric_scopes]]\nname = "none"\nmetrics = ["shop_till_sale"]\n',
    );
    expect(without(lines)).to.deep.equal([]);
    expect(lines[3]).to.equal('  tracks 3 of 3 objects, 10 variables, 4 metrics');
    expect(lines.filter((line) => line.includes('metric scope'))).to.deep.equal([
      '  warning: metric scope "none" selects nothing of this target',
    ]);
  });

  it('shows the state of a server key, and the selected root', () => {
    open(segments.publish('1'));
    const [name, ...lines] = check(target());
    expect(name).to.equal('target shop on 1:');
    expect(lines.slice(0, 3)).to.deep.equal([
      '  server key 1: live: publisher is live',
      '  root h.1.shop of server key 1',
      '  tracks 3 of 3 objects, 10 variables, 2 metrics',
    ]);
  });

  it('reports rows without a variable, rows of the wrong type, and variables without a row', () => {
    open(segments.publish('1'));
    const row = (index: number, metric: string) =>
      `shop.toml: classes[0].metrics[${index}] (${metric})`;
    expect(check(target()).slice(4)).to.deep.equal(
      [
        `${row(1, 'shop_till_bills')}: no object of class "till" has the variable "bill" (did you mean "bills"?)`,
        `${row(3, 'shop_till_port_bytes')}: no object of class "till" has the variable "bytes.{port}"`,
        `${row(4, 'shop_till_clerk_info')}: no object of class "till" has the variable "badge"`,
        `${row(2, 'shop_till_wait_seconds')}: the variable "waits" has type string, allowed: histogram`,
        'class "till": variables without a row: bills, spare',
      ].map((line) => `  warning: ${line}`),
    );
  });

  it('counts variables without a row in a built-in catalogue, but does not warn of them', () => {
    const publisher = segments.publish('1');
    const root = publisher.addRoot('h.1.ats', 'ManagedProcess.ATS');
    for (const name of ['processID', 'spare', 'extra']) publisher.addVariable(root, name, 'u64');
    const about = (more = '') =>
      check(`[[targets]]\napp = "ats"\nserver_key = "1"\n${more}`).filter((line) =>
        /without a row|no row/.test(line),
      );
    expect(about()).to.deep.equal([
      '  2 variables have no row in the built-in catalogue of ats; show_uncatalogued = true shows them',
    ]);
    expect(about('show_uncatalogued = true\n')).to.deep.equal([]);
  });

  it('reports classes without objects, and the paths of objects without rows', () => {
    open(segments.publish('1'));
    const found = (id: string, path: string) =>
      check(target(), SHOP.replace('"Till"', `"${id}"`).replace('floor.{till}', path)).slice(3);
    const lines = (id: string, path: string, guess: string) => [
      '  tracks 3 of 3 objects, 10 variables, 0 metrics',
      `  warning: shop.toml: no object matches "till", which selects class ${id}${guess} at ${path}`,
      '  warning: shop.toml: no object matches "shelf", which selects class Shelf at store.{shelf}',
      '  warning: no row reads 2 objects with 10 variables: "Till" at "floor.t2"',
    ];
    for (const [id, path, guess] of [
      ['Tills', 'floor.{till}', ' (did you mean "Till"?)'],
      ['Till', 'floors.{till}', ''],
      ['Till', 'h.1.shop.floor.{till}', ''],
    ] as const)
      expect(found(id, path)).to.deep.equal(lines(id, path, guess));
  });

  it('names at most three classes without rows, in descending order of their variables', () => {
    const publisher = segments.publish('1');
    const root = publisher.addRoot('h.1.shop', 'Root');
    for (const [size, className] of ['Lamp', 'Door', 'Desk', 'Sign'].entries()) {
      const object = publisher.addObject(root, `h.1.shop.${className}`, className);
      for (let number = 0; number < size; number++)
        publisher.addVariable(object, `v${number}`, 'u64');
    }
    const line =
      '  warning: no row reads 4 objects with 6 variables: "Sign" at "Sign", "Desk" at "Desk", "Door" at "Door" and 1 more class';
    expect(check(target())).to.include(line);
    const shown = check(target('show_uncatalogued = true\n'));
    expect(shown.filter((each) => each.includes('no row'))).to.deep.equal([]);
    expect(shown.filter((each) => each.includes('no object matches'))).to.have.lengthOf(2);
  });

  it('reports no class if every object below the root has rows', () => {
    const publisher = segments.publish('1');
    const root = publisher.addRoot('h.1.shop', 'Root');
    expect(check(target())).to.have.lengthOf(4);
    const floor = publisher.addObject(root, 'h.1.shop.floor', 'Floor');
    publisher.addObject(floor, 'h.1.shop.floor.t1', 'Till');
    expect(check(target()).filter((line) => line.includes('fits'))).to.deep.equal([]);
    publisher.addObject(root, 'h.1.shop.stores', 'Shelf');
    expect(check(target()).slice(4, 6)).to.deep.equal([
      '  warning: shop.toml: no object matches "shelf", which selects class Shelf at store.{shelf}',
      '  warning: no row reads 1 object with 0 variables: "Shelf" at "stores"',
    ]);
  });

  it('reports each filter, variable and scope that matches nothing, with its position', () => {
    open(segments.publish('1'));
    const filters =
      'classes = ["till", "shelf"]\nseed_path_groups = ["front", "back"]\nseed_paths = ["flor", "@root"]\nvariable = "floor.t1.sale"\n';
    const scopes =
      '[[metric_scopes]]\nname = "s"\nmetrics = ["shop_till_bills"]\n[[metric_scopes]]\nname = "t"\nmetrics = ["shop_till_*"]\n';
    const warnings = check(target(filters) + scopes).slice(4, 9);
    expect(warnings).to.deep.equal(
      [
        'c.toml:6:20: targets[0].classes[1]: no object matches "shelf", which selects class Shelf at store.{shelf}',
        'c.toml:7:30: targets[0].seed_path_groups[1]: no object is in the group "back"',
        'c.toml:8:15: targets[0].seed_paths[0]: no object is at "flor" (did you mean "floor"?)',
        'c.toml:9:12: targets[0].variable: no variable is at "floor.t1.sale" (did you mean "floor.t1.sales"?)',
        'metric scope "s" selects nothing of this target',
      ].map((line) => `  warning: ${line}`),
    );
  });

  it('checks an application without a catalogue against its published tree', () => {
    const publisher = segments.publish('1');
    const root = publisher.addRoot('h.1.mine', 'Root');
    publisher.addVariable(root, 'load', 'f64');
    const mine =
      '[[targets]]\napp = "mine"\nserver_key = "1"\nclasses = ["Rot"]\n[[targets]]\napp = "mine"\nserver_key = "1"\n' +
      '[[metric_scopes]]\nname = "s"\nmetrics = ["mine_root_load"]\n';
    expect(check(mine)).to.deep.equal([
      'target mine on 1:',
      '  server key 1: live: publisher is live',
      '  root h.1.mine of server key 1',
      '  tracks 0 of 1 object, 0 variables, 0 metrics',
      '  warning: c.toml:6:12: targets[0].classes[0]: no object is of class "Rot" (did you mean "Root"?)',
      '  warning: the filters together select no object',
      '  warning: metric scope "s" selects nothing of this target',
      'target mine on 1:',
      '  server key 1: live: publisher is live',
      '  root h.1.mine of server key 1',
      '  tracks 1 of 1 object, 1 variable, 1 metric',
    ]);
  });

  it('reports an absent segment, a closed segment, and a segment of the wrong application', () => {
    open(segments.publish('1'));
    segments.publish('2').close();
    const lines = check(
      '[[targets]]\napp = "bank"\nserver_key = "1"\n[[targets]]\napp = "shop"\nserver_key = "2"\n',
    );
    expect(lines[1]).to.equal('  server key 1: live: publisher is live');
    expect(lines[2]).to.equal(
      '  no root: waiting on a root of application bank; found only h.1.shop',
    );
    expect(lines[4]).to.match(/^ {2}server key 2: (absent|closed): /);
    expect(lines[5]).to.match(
      /^ {2}no root: waiting on a root of application shop; server key 2: /,
    );
  });

  it('checks all server keys of a single target, and names the roots that are not selected', () => {
    open(segments.publish('1'));
    segments.publish('2').addRoot('h.2.shop', 'Root');
    const lines = check('app = "shop"\nserver_keys = ["1", "2", "3"]\n');
    expect([...lines.slice(0, 3), lines[4]]).to.deep.equal([
      'target shop on 1, 2, 3:',
      '  server key 1: live: publisher is live',
      '  server key 2: live: publisher is live',
      '  root h.1.shop of server key 1; not selected: h.2.shop',
    ]);
  });

  it('warns of two variables that become one metric, with and without a catalogue', () => {
    const publisher = segments.publish('1');
    const root = publisher.addRoot('h.1.shop', 'Root');
    const till = publisher.addObject(root, 'h.1.shop.floor.t', 'Till');
    for (const name of ['CPU%', 'CPU#', '温度', '湿度']) publisher.addVariable(till, name, 'u64');
    const warning = (name: string) =>
      `  warning: class "Till": the variables "CPU%" and "CPU#" both become ${name}, so one is left out: rename one of them`;
    const bare = check(
      '[[targets]]\napp = "shop"\nserver_key = "1"\n',
      SHOP.replaceAll('shop', 'x'),
    );
    expect(bare.filter((line) => line.includes('become'))).to.deep.equal([
      warning('shop_till_cpu'),
    ]);
    expect(bare).to.include('  tracks 2 of 2 objects, 4 variables, 3 metrics');
    for (const [more, shop] of [
      ['show_uncatalogued = true\n', SHOP.replace('"Till"', '"Other"')],
      ['', SHOP.replace('class_ids = ["Till"]', 'class_ids = ["Till"]\ndescribed = true')],
    ] as const)
      expect(check(target(more), shop)).to.include(warning('shop_till_cpu'));
  });

  it('names the existing segments if a server key has no segment', () => {
    open(segments.publish('shop-1'));
    const line = check('app = "shop"\nserver_keys = ["shop-2"]\n')[1];
    expect(line).to.match(
      /^ {2}server key shop-2: absent: no segment test\.pool\.shop-2 in shared memory, did you mean test\.pool\.shop-1\? \(there are: .*test\.pool\.shop-1/,
    );
  });

  it('prints fewer than 40 lines, even for 20000 variables without a row', () => {
    const publisher = segments.publish('1', { capacity: {} });
    const root = publisher.addRoot('h.1.shop', 'Root');
    const till = publisher.addObject(root, 'h.1.shop.floor.t', 'Till');
    for (let number = 0; number < 20_000; number++)
      publisher.addVariable(till, `extra${number}`, 'u64');
    const scopes = Array.from(
      { length: 30 },
      (_, index) => `[[metric_scopes]]\nname = "s${index}"\nmetrics = ["x${index}"]\n`,
    ).join('');
    const lines = check(target() + scopes);
    expect(lines).to.include('  tracks 2 of 2 objects, 20000 variables, 0 metrics');
    expect(lines).to.include('  warning: and 10 more metric scopes that select nothing');
    expect(lines.at(-1)).to.match(/^ {2}warning: class "till": .* and 19990 more$/);
    expect(lines.length).to.be.below(40);
  });

  it('closes all files', () => {
    open(segments.publish('1'));
    check(target());
    expect(segments.files()).to.have.lengthOf(1);
  });
});
