// Tests [discover] with real publishers that come and go.
import { expect } from 'chai';
import { testPrograms, waitFor } from '../support/processes.js';
import { readyPage, scrape } from './page.js';

describe('[discover]', function () {
  this.slow(10_000);
  const programs = testPrograms();
  const DISCOVER = '\n[discover]\nnative = ["shop-*", "?"]\nforget_after_seconds = 5\n';

  const tree = (key: string) => ({
    server_key: key,
    objects: [{ id: `h.${key}.shop`, class: 'Shop', variables: { x: { type: 'u64', value: 7 } } }],
  });
  const listed = async (url: string): Promise<readonly string[]> => {
    const { body } = await scrape(new URL('/-/targets', url).href);
    const groups = JSON.parse(body) as { labels: Record<string, string> }[];
    return groups.map(({ labels }) => `${labels['app']} ${labels['server_key']}`).sort();
  };
  const lists = (url: string, ...wanted: readonly string[]) =>
    waitFor(`the targets are ${wanted.join()}`, async () =>
      (await listed(url)).join() === wanted.join() ? true : undefined,
    );

  it('shows each matching segment as a target, and removes it after its publisher has ended', async () => {
    const config = programs.config({}, DISCOVER);
    const exporter = programs.start('exporter', ['--config', config]);
    const url = await exporter.url();
    expect(await listed(url)).to.deep.equal([]);
    expect((await scrape(new URL('/-/ready', url).href)).status).to.equal(200);

    const killed = await programs.simulatorOf(tree('shop-1'));
    const closed = await programs.simulatorOf(tree('2'));
    await programs.simulatorOf(tree('other'));
    await lists(url, 'shop 2', 'shop shop-1');
    expect(await readyPage(`${url}?server_key=shop-1`)).to.match(/^shop_x\{.*\} 7$/m);
    await exporter.line(/ info discovered target shop on 2, root h\.2\.shop\n/);

    await killed.stop('SIGKILL');
    await closed.stop();
    await lists(url);
    await exporter.line(/ info removed target shop on shop-1, root h\.shop-1\.shop: its publisher/);
    expect((await scrape(`${url}?server_key=shop-1`)).status).to.equal(404);

    const again = await programs.simulatorOf(tree('shop-1'));
    await lists(url, 'shop shop-1');
    const own = await scrape(new URL('/-/metrics', url).href);
    expect(own.body).to.match(/^shm_exporter_discovered_targets 1$/m);
    await again.stop();
  });

  it('leaves to a configured target only the root that this target shows', async () => {
    const root = (name: string, value: number) => ({
      id: `h.${name}.shop`,
      class: 'Shop',
      variables: { x: { type: 'u64', value } },
    });
    const both = programs.publish({ server_key: 'shop-8', objects: [root('1', 1), root('2', 2)] });
    const config = programs.config(
      {},
      `${DISCOVER}[[targets]]\napp = "shop"\nserver_key = "shop-8"\n`,
    );
    const exporter = programs.start('exporter', ['--config', config]);
    const url = await exporter.url();
    await lists(url, 'shop shop-8', 'shop shop-8');
    const page = (query: string) => readyPage(`${url}?server_key=shop-8${query}`);
    expect(await page('&app=shop&instance=h.2.shop')).to.match(/^shop_x\{.*\} 2$/m);
    expect(await page(''), 'the configured target').to.match(/^shop_x\{.*\} 1$/m);
    const files = ['--config', config, '--license-file', programs.license];
    const { stdout } = programs.run('exporter', ...files, '--check-config', '--live');
    expect(stdout).to.contain('discovery: 1 target\n  shop on shop-8, root h.2.shop\n');
    both.close();

    const other = programs.publish({ server_key: 'shop-8', objects: [root('2', 3)] });
    await waitFor('the configured target shows the other root', async () =>
      /^shop_x\{.*\} 3$/m.test((await scrape(`${url}?server_key=shop-8`)).body) ? true : undefined,
    );
    await lists(url, 'shop shop-8');
    other.close();
  });

  it('is listed by --check-config --live, and applied by --once', async () => {
    const publisher = await programs.simulatorOf(tree('3'));
    const files = ['--config', programs.config({}, DISCOVER), '--license-file', programs.license];
    const { stdout } = programs.run('exporter', ...files, '--check-config', '--live');
    expect(stdout).to.contain('discovery: 1 target\n  shop on 3, root h.3.shop\n');
    const once = programs.run('exporter', ...files, '--once');
    expect(once.stdout).to.match(/^# snapshot app=shop server_key=3 root=h\.3\.shop /);
    expect(once.status).to.equal(0);
    await publisher.stop();
  });

  it('gives targets labels from their server keys, and renames labels of series that clash', async () => {
    const keys = ['shop-5', 'shop-6-2', '5'];
    const publishers = keys.map((key) => programs.publish(tree(key)));
    const more = `${DISCOVER}labels_from = "shop-{object}"\n`;
    const config = programs.config({}, more);
    const exporter = programs.start('exporter', ['--config', config]);
    const url = await exporter.url();
    await lists(url, 'shop 5', 'shop shop-5', 'shop shop-6-2');
    for (const key of keys) await readyPage(`${url}?server_key=${key}`);
    const { body } = await scrape(new URL('/-/all', url).href);
    const linesOf = (name: string) =>
      body.split('\n').filter((line) => line.startsWith(`${name}{`));
    expect(linesOf('shop_x')).to.have.members([
      'shop_x{app="shop",server_key="5",root="h.5.shop",object="@root"} 7',
      'shop_x{app="shop",server_key="shop-5",root="h.shop-5.shop",object="5",exported_object="@root"} 7',
      'shop_x{app="shop",server_key="shop-6-2",root="h.shop-6-2.shop",object="6-2",exported_object="@root"} 7',
    ]);
    expect(
      linesOf('shm_target_info').map((line) => /object="[^"]*"/.exec(line)?.[0]),
    ).to.have.members([undefined, 'object="5"', 'object="6-2"']);
    const own = await scrape(new URL('/-/metrics', url).href);
    expect(own.body).to.match(/^shm_exporter_target_renamed_labels\{.*"shop-5".*\} 1$/m);
    expect(own.body).to.match(/^shm_exporter_target_renamed_labels\{.*"5".*\} 0$/m);
    const found = await scrape(new URL('/-/targets', url).href);
    const groups = JSON.parse(found.body) as { labels: Record<string, string> }[];
    expect(groups.map(({ labels }) => labels['object'])).to.have.members([undefined, '5', '6-2']);

    const files = ['--config', config, '--license-file', programs.license];
    const { stdout } = programs.run('exporter', ...files, '--check-config', '--live');
    expect(stdout).to.contain('  shop on shop-5, root h.shop-5.shop with object="5"\n');
    expect(stdout).to.contain('  shop on 5, root h.5.shop\n').and.not.to.contain('warning');
    programs.write(
      config.split('/').at(-1) ?? '',
      `${programs.settings({})}${DISCOVER}labels_from = "sop-{store}"\n`,
    );
    const none = programs.run('exporter', ...files, '--check-config', '--live');
    expect(none.stdout).to.contain(
      '  warning: labels_from matches none of their server keys: "sop-{store}"\n',
    );
    exporter.signal('SIGHUP');
    await exporter.line(/configuration reloaded: /);
    await waitFor('lines without the former label', async () =>
      (await scrape(new URL('/-/all', url).href)).body.includes(
        'shop_x{app="shop",server_key="shop-5",root="h.shop-5.shop",object="@root"} 7',
      )
        ? true
        : undefined,
    );
    for (const each of publishers) each.close();
  });

  it('keeps its targets during a reload, and gives them up when the table goes', async () => {
    await programs.simulatorOf(tree('4'));
    const config = programs.config({}, DISCOVER);
    const exporter = programs.start('exporter', ['--config', config]);
    const url = await exporter.url();
    await lists(url, 'shop 4');
    exporter.signal('SIGHUP');
    await exporter.line(/configuration reloaded: 0 targets/);
    expect(await listed(url)).to.deep.equal(['shop 4']);
    programs.write(
      config.split('/').at(-1) ?? '',
      `${programs.settings({})}\n[[targets]]\napp = "shop"\nserver_key = "4"\n`,
    );
    exporter.signal('SIGHUP');
    await exporter.line(/configuration reloaded: 1 target,/);
    await readyPage(`${url}?server_key=4`);
    expect(await listed(url)).to.deep.equal(['shop 4']);
  });
});
