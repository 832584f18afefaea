// Tests shm_dump --watch: a live view on a terminal, and repeated dumps elsewhere.
import { expect } from 'chai';
import { waitFor } from '../support/processes.js';
import { Terminal } from '../support/terminal.js';
import type { Screen } from '../support/terminal.js';
import { SHOP, dumps } from './dumps.js';

describe('shm_dump --watch', function () {
  this.slow(10_000);
  const { programs } = dumps();
  let keys = 0;
  /** Publishes the sample tree under its own server key. */
  const shop = (seconds = '0.1') => {
    const key = `watched${++keys}`;
    const published = programs.publish({ ...SHOP, server_key: key });
    const words = ['--context-id', programs.contextId, '--server-key', key, '--watch', seconds];
    return { published, words };
  };
  const command = (words: readonly string[]) =>
    `"${process.execPath}" dist/bin/shm_dump.js ${words.join(' ')}`;
  const sold = ({ lines }: Pick<Screen, 'lines'>) => lines.find((line) => line.includes(' sold '));
  const hasTree = (screen: Screen) => sold(screen) !== undefined;
  const restored = async (terminal: Terminal) => {
    await terminal.running.ended;
    expect(terminal.sent).to.include('status=0\r\n');
    const { isAlternate, hasCursor } = terminal.screen;
    expect({ isAlternate, hasCursor }).to.deep.equal({ isAlternate: false, hasCursor: true });
    const [before, after] = terminal.settings;
    expect(before).to.be.a('string');
    expect(after).to.equal(before);
  };

  it('shows a change with its age, and redraws without clearing the screen', async () => {
    // A change stays highlighted until the next draw. That is long enough for this test to see it.
    const { published, words } = shop('1');
    const terminal = new Terminal(programs, command(words));
    const first = await terminal.shows('the tree', hasTree);
    expect(sold(first)).to.equal('    sold                    u64 counter pieces  42');
    expect(first.lines.at(-1)).to.match(/^nothing below; up, down, .* q quits$/);
    expect(first).to.include({ isAlternate: true, hasCursor: false });
    published.go({ set: { 'h.1.shop.floor.a': { sold: 43 } } });
    await terminal.shows('that the change stands out', ({ bright }) =>
      [...bright].some((line) => / sold +u64 counter pieces {2}43 +0 s$/.test(line)),
    );
    const last = await terminal.shows(
      'that it stands out no more',
      (screen) => screen.bright.size === 0 && / 43 +\d+ s$/.test(sold(screen) ?? ''),
    );
    expect(last.cleared).to.equal(0);
    expect(last.lines.find((line) => line.includes(' long '))).to.match(/ "x+…$/);
    terminal.type('q');
    await terminal.running.ended;
  });

  it('scrolls by keys through lines beyond the screen, and restores the terminal after Ctrl-C', async () => {
    const { words } = shop();
    const terminal = new Terminal(programs, command(words), { rows: 12 });
    const top = ({ lines }: Screen) => lines[5];
    await terminal.shows('the root', (screen) => top(screen) === 'h.1.shop  Shop  normal');
    terminal.type('\u001b[B');
    await terminal.shows(
      'the second line',
      (screen) => top(screen)?.trim().startsWith('version') === true,
    );
    terminal.type('\u001b[6~\u001b[6~\u001b[6~');
    const end = await terminal.shows(
      'the end',
      ({ lines }) => lines.at(-1)?.includes('nothing below') === true,
    );
    expect(end.lines.at(-2)).to.match(/^ {4}long /);
    expect(end.lines.at(-1)).to.match(/^8 above, /);
    terminal.type('\u001b[H');
    await terminal.shows('the root', (screen) => top(screen) === 'h.1.shop  Shop  normal');
    terminal.type('\u0003');
    await restored(terminal);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    it(`restores the terminal after ${signal}`, async () => {
      // Run in the background of a shell, from where a program cannot read the terminal, so that no keys
      // arrive.
      const line = `${command(shop().words)} & echo pid=$!; wait $!`;
      const terminal = new Terminal(programs, line);
      await terminal.shows('the tree', hasTree);
      process.kill(Number(/pid=(\d+)/.exec(terminal.sent)?.[1]), signal);
      await restored(terminal);
    });

  it('shows the last values of a dead publisher, and then the values of the next one', async () => {
    const key = 'mortal';
    const simulator = await programs.simulatorOf({ ...SHOP, server_key: key });
    const words = ['--context-id', programs.contextId, '--server-key', key, '--watch', '0.1'];
    const terminal = new Terminal(programs, command(words));
    await terminal.shows('that it is live', ({ lines }) => lines[1]?.includes(' live: ') === true);
    await simulator.stop('SIGKILL');
    const dead = await terminal.shows(
      'that it is dead',
      ({ lines }) => lines[1]?.includes(' dead: ') === true,
    );
    expect(sold(dead)).to.match(/ 42$/);
    const next = programs.publish({ ...SHOP, server_key: key });
    next.go({ set: { 'h.1.shop.floor.a': { sold: 7 } } });
    await terminal.shows(
      'the next one',
      (screen) =>
        screen.lines[1]?.includes(' live: ') === true && / 7( +\d+ s)?$/.test(sold(screen) ?? ''),
    );
    terminal.type('q');
    await terminal.running.ended;
  });

  it('reports that the selected object is missing, shows it when it reappears, and restores the terminal after the key q', async () => {
    const { published, words } = shop();
    const terminal = new Terminal(programs, command([...words, '--object', 'floor.a']));
    await terminal.shows('the object', hasTree);
    published.go({ remove: ['h.1.shop.floor.a'] });
    await terminal.shows(
      'that it is gone',
      ({ lines }) =>
        lines[5] === '--object: there is no object "floor.a" (did you mean "floor.b"?)',
    );
    const [, object] = SHOP.objects;
    published.go({ add: [object] });
    await terminal.shows('the object', hasTree);
    terminal.type('q');
    await restored(terminal);
  });

  it('prints dumps until a signal arrives if stdout is not a terminal', async () => {
    const { words } = shop();
    const running = programs.start('dump', words);
    const count = (text: string) => text.split('\n3 objects, 11 variables,').length - 1;
    await waitFor('three dumps', () => (count(running.stdout) >= 3 ? true : undefined));
    expect(await running.stop('SIGINT')).to.deep.equal({ status: 0, signal: null });
    expect(running.stdout).not.to.include('\u001b');
    expect(running.stdout).to.match(/not synced\n\nsegment /);
  });

  it('prints JSON lines until its output pipe is closed', async () => {
    const line = `exec 3>&1; (${command([...shop().words, '--json'])}; echo $? >&3) | head -40`;
    const running = programs.command(['sh', '-c', line]);
    expect(await running.ended).to.deep.equal({ status: 0, signal: null });
    const [status, ...lines] = running.stdout.trim().split('\n').sort();
    expect(status).to.equal('0');
    expect(running.stderr).to.equal('');
    expect(lines).to.have.lengthOf(40);
    const kinds = lines.map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(kinds.filter((kind) => kind === 'segment')).to.have.lengthOf.at.least(2);
  });
});
