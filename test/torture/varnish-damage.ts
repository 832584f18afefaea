// Damages the shared memory of Varnish before and during reads, in one process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '#app/errors.js';
import type { Random } from '#app/simulator/course.js';
import { pollAll } from '../support/polled-values.js';
import { DamagedVarnish, NUMBERS } from '../varnish/damaged-varnish.js';
import type { Damage } from '../varnish/damaged-varnish.js';
import type { Given, Outcome } from './trial.js';

const ROUNDS_A_MINUTE = 2000;
const LEAST_ROUNDS = 500;
const MAX_DAMAGES = 4;
const LOG_EVERY = 5000;
/**
 * The limit for one round: a poll by a new poller, two polls by one that is already open, and copies of all
 * values.
 */
const MAX_ROUND_MS = 1000;

export async function runVarnishDamage({ random, minutes, log }: Given): Promise<Outcome> {
  const count = Math.max(LEAST_ROUNDS, Math.round(ROUNDS_A_MINUTE * minutes));
  const folder = mkdtempSync(join(tmpdir(), 'shm-torture-'));
  const varnish = new DamagedVarnish(folder);
  const open = varnish.poller();
  const wrong: string[] = [];
  let [tried, right, worstMs] = [0, 0, 0];

  /** Damages the shared memory while a poller has it open. Reads it with that poller and with a new one. */
  function round(damages: readonly Damage[]): void {
    varnish.restore();
    const before = pollAll(open);
    varnish.damage(damages);
    const fresh = varnish.poller();
    try {
      const judged = [before, pollAll(open), pollAll(fresh)].map((seen) => varnish.judge(seen));
      for (const each of judged) {
        right += each.right;
        for (const what of each.wrong) wrong.push(`${shown(damages)}: ${what}`);
      }
    } catch (error) {
      wrong.push(`${shown(damages)}: ${messageOf(error)}`);
    } finally {
      fresh.close();
    }
  }

  try {
    for (let rounds = 0; rounds < count; rounds++) {
      const damages = Array.from({ length: 1 + random.below(MAX_DAMAGES) }, () => damageOf(random));
      const began = performance.now();
      round(damages);
      worstMs = Math.max(worstMs, performance.now() - began);
      tried += damages.length;
      if (rounds % LOG_EVERY === LOG_EVERY - 1) log(`${rounds + 1} of ${count} rounds`);
      if (rounds % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    open.close();
    rmSync(folder, { recursive: true });
  }
  if (worstMs > MAX_ROUND_MS) wrong.push(`a round took ${worstMs.toFixed(0)} ms`);
  const figures = `${right} values right; a round took ${worstMs.toFixed(0)} ms at most`;
  return { tried, wrong, figures };
}

function damageOf(random: Random): Damage {
  const place = { file: random.below(64), at: random.below(65_536) };
  const damages: readonly Damage[] = [
    { kind: 'byte', ...place, byte: random.below(256) },
    { kind: 'number', ...place, value: NUMBERS[random.below(NUMBERS.length)] ?? 0n },
    { kind: 'cut', ...place },
    { kind: 'lines', ...place, to: random.below(64) },
  ];
  return damages[random.below(damages.length)] ?? { kind: 'cut', ...place };
}

const shown = (damages: readonly Damage[]): string =>
  damages.map((each) => Object.values(each).join(' ')).join(', ');
