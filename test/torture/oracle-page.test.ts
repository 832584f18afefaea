// The checker of pages must accept only values that the oracle's publisher can have stored.
import { expect } from 'chai';
import { checkPage } from './oracle-page.js';

/**
 * Returns the lines of one object after a complete round. In `observed` of its buckets, the next round is
 * counted too.
 */
function linesOf(id: number, round: number, observed = 0): string[] {
  const own = round * 1_000_003 + id;
  const [a, b, c] = [0, 1, 2].map((bucket) => round + Number(observed > bucket)) as [
    number,
    number,
    number,
  ];
  const letters = 'abcdefghijklmnopqrstuvwxyz'.charAt(round % 26).repeat(round % 40);
  const o = `object="o${id}"`;
  return [
    `oracle_item_delay_bucket{${o},le="1"} ${a}`,
    `oracle_item_delay_bucket{${o},le="2"} ${a + b}`,
    `oracle_item_delay_bucket{${o},le="+Inf"} ${a + b + c}`,
    `oracle_item_delay_sum{${o}} ${0.5 * a + 1.5 * b + 2.5 * c}`,
    `oracle_item_delay_count{${o}} ${a + b + c}`,
    `oracle_item_number{${o}} ${own}`,
    `oracle_item_real{${o}} ${own / 2}`,
    `oracle_item_size{${o},quantile="0.5"} ${own}`,
    `oracle_item_size{${o},quantile="0.9"} ${own + round}`,
    `oracle_item_size_sum{${o}} ${own}`,
    `oracle_item_size_count{${o}} ${round}`,
    `oracle_item_text_info{${o},value="${id}:${round}:${letters}"} 1`,
  ];
}

const page = (lines: readonly string[]): string =>
  ['# HELP x y', ...lines, 'shm_exporter_internal_target_ready{} 1', ''].join('\n');

describe('the checker of pages with known values', () => {
  const lines = [...linesOf(0, 7), ...linesOf(1, 66, 2)];

  it('accepts complete pages, even in the middle of a round of updates', () => {
    const { values, faults, rounds } = checkPage(page(lines), 2);
    expect(faults).to.deep.equal([]);
    expect(values).to.equal(24);
    expect([...rounds]).to.deep.equal([
      [0, 7],
      [1, 66],
    ]);
  });

  const swap = (from: string | RegExp, to: string) => lines.map((line) => line.replace(from, to));
  const table: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['a value of another object', swap('7000021', '7000022'), /^wrong: oracle_item_number/],
    ['a text of another object', swap('"0:7:', '"1:7:'), /^wrong: oracle_item_text/],
    ['a torn text', swap('hhhhhhh', 'hhhhhhi'), /^wrong: oracle_item_text/],
    ['half a text', swap('hhhhhhh', 'hhhh'), /^wrong: oracle_item_text/],
    [
      'a histogram that mixes the buckets of two updates',
      swap('le="2"} 14', 'le="2"} 15'),
      /^torn: o0/,
    ],
    [
      'a histogram that has the sum of another update',
      swap('sum{object="o0"} 31.5', 'sum{object="o0"} 32'),
      /^torn: o0/,
    ],
    [
      'a histogram that has the count of another update',
      swap('count{object="o0"} 21', 'count{object="o0"} 22'),
      /^torn: o0/,
    ],
    [
      'a summary that mixes the quantiles of two updates',
      swap('quantile="0.9"} 7000028', 'quantile="0.9"} 8000032'),
      /^torn/,
    ],
    ['a repeated series', [...lines, lines[5] ?? ''], /^twice/],
    ['a missing bucket', lines.slice(1), /^torn: o0/],
    ['a missing scalar', lines.filter((_, i) => i !== 6), /^o0 has 11 series/],
    ['a missing text', lines.filter((_, i) => i !== 11), /^o0 has 11 series/],
    ['a missing object', linesOf(1, 66), /^1 objects instead of 2/],
    ['an unexpected object', [...lines, ...linesOf(2, 3)], /^foreign/],
    ['an unexpected metric name', [...lines, 'other_item_number{object="o0"} 1'], /^foreign/],
    ['half a line', [...lines, 'oracle_item_num'], /^foreign/],
  ];
  for (const [what, altered, fault] of table)
    it(`rejects ${what}`, () => {
      const { faults } = checkPage(page(altered), 2);
      expect(
        faults.find((each) => fault.test(each)),
        faults.join('; '),
      ).not.to.equal(undefined);
    });

  it('accepts missing texts, histograms and summaries, but no missing parts, if the parameter mayLack is true', () => {
    const some = lines.filter((line) => !line.includes('delay') && !line.includes('text'));
    const { faults, lacking } = checkPage(page(some), 2, new Map(), true);
    expect(faults).to.deep.equal([]);
    expect(lacking).to.equal(4);
    const half = checkPage(page(lines.slice(1)), 2, new Map(), true);
    expect(half.faults.join()).to.match(/^torn: o0/);
    const scalar = checkPage(page(lines.filter((_, i) => i !== 5)), 2, new Map(), true);
    expect(scalar.faults.join()).to.match(/^o0 has 11 series/);
  });

  it('rejects a value that is lower than on an earlier page', () => {
    const { faults } = checkPage(page(lines), 2, new Map([[0, 8]]));
    expect(faults).to.deep.equal(['back: o0 to 7']);
  });
});
