// Tests files of targets.d that are added, broken, repaired and removed while the exporter serves.
import { expect } from 'chai';
import { mkdirSync, rmSync } from 'node:fs';
import { testPrograms, waitFor } from '../support/processes.js';
import { readyPage, scrape } from './page.js';

describe('the files of targets.d', function () {
  this.slow(10_000);
  const programs = testPrograms();
  const table = (key: string) => `[[targets]]\napp = "shop"\nserver_key = "${key}"\n`;

  it('add and remove targets at a reload, and a faulty file costs only its own', async () => {
    for (const key of ['1', '2'])
      programs.publish({
        server_key: key,
        objects: [
          { id: `h.${key}.shop`, class: 'Shop', variables: { x: { type: 'u64', value: 7 } } },
        ],
      });
    const config = programs.config();
    mkdirSync(programs.path('targets.d'));
    const exporter = programs.start('exporter', ['--config', config]);
    const url = await exporter.url();
    const at = (path: string) => new URL(path, url).href;
    const faulty = async () =>
      (await scrape(at('/-/metrics'))).body.match(/^shm_exporter_target_file_faulty\{.*/gm) ?? [];
    let reloads = 0;
    const reload = async () => {
      const wanted = ++reloads;
      exporter.signal('SIGHUP');
      await waitFor('the reload', () =>
        (exporter.stderr.match(/configuration reloaded: /g) ?? []).length === wanted
          ? true
          : undefined,
      );
    };
    const keys = async () => {
      const { body } = await scrape(at('/-/targets'));
      const groups = JSON.parse(body) as { labels: Record<string, string> }[];
      return groups.map(({ labels }) => labels['server_key']);
    };
    await exporter.line(/there is no target: add/);
    expect(await keys()).to.deep.equal([]);
    expect((await scrape(at('/-/ready'))).status).to.equal(200);

    programs.write('targets.d/a.toml', table('1'));
    programs.write('targets.d/b.toml', `${table('2')}clases = ["x"]\n`);
    await reload();
    expect(await readyPage(`${url}?server_key=1`)).to.match(/^shop_x\{.*\} 7$/m);
    expect(await keys()).to.deep.equal(['1']);
    await exporter.line(/warning the targets of targets\.d\/b\.toml are left out:\n/);
    await exporter.line(/warning \S+targets\.d\/b\.toml:4:1: targets\[0\]\.clases: unknown key/);
    expect(await faulty()).to.deep.equal([
      'shm_exporter_target_file_faulty{file="targets.d/b.toml"} 1',
    ]);
    const check = programs.run('exporter', '--config', config, '--check-config');
    expect(check.status).to.equal(7);
    expect(check.stdout).not.to.contain('valid');
    expect(check.stderr).to.match(
      /^shm_exporter: \S+targets\.d\/b\.toml:4:1: targets\[0\]\.clases: /,
    );

    programs.write('targets.d/b.toml', table('2'));
    await reload();
    await readyPage(`${url}?server_key=2`);
    expect(await faulty()).to.deep.equal([]);

    rmSync(programs.path('targets.d/a.toml'));
    await reload();
    expect(await keys()).to.deep.equal(['2']);
    expect((await scrape(`${url}?server_key=1`)).status).to.equal(404);
    expect(programs.run('exporter', '--config', config, '--check-config').stdout).to.equal(
      'configuration is valid\n',
    );
  });
});
