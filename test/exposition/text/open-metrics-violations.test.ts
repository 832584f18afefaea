// Tests that renders detect values that OpenMetrics forbids.
import { expect } from 'chai';
import { Budget } from '#app/budget.js';
import { Kernel, OPCODE } from '#app/exposition/wasm/kernel.js';
import { ExpositionText } from '#app/exposition/text/exposition-text.js';
import type { MetricType } from '#app/model.js';
import { runToEnd } from '#app/run-to-end.js';
import { Cells, cellLine } from '../../support/lines.js';
import { FORMS } from '../../support/text-pair.js';

const LINES = 5000;

/** Returns a family with many lines, and the cells of their values. */
function numbers(type: MetricType, opcode: number, suffix = '') {
  const kernel = new Kernel();
  const text = new ExpositionText(kernel, new Budget(), () => true);
  const cells = new Cells(kernel, LINES);
  const metadata = { name: 'x', type, unit: '', help: '' };
  for (let nodeId = 0; nodeId < LINES; nodeId++)
    text.put(
      metadata,
      0,
      { nodeId, seriesIndex: 0 },
      cellLine(`a="${nodeId}"`, cells.of(nodeId), opcode, suffix),
    );
  /** Adds one more line for the last cell. */
  const add = (): void => {
    const line = cellLine('a="added"', cells.of(LINES - 1), opcode, suffix);
    text.put(metadata, 0, { nodeId: LINES, seriesIndex: 0 }, line);
  };
  return { text, cells, add };
}

describe('a render', () => {
  for (const [name, forms] of Object.entries(FORMS))
    it(`(forms: ${name}) reports that a line has a value that OpenMetrics forbids, until the value changes`, () => {
      const { text, cells } = numbers('counter', OPCODE.f64);
      const isFound = () => runToEnd(text.rendering(forms)).violatesOpenMetrics;
      expect(isFound()).to.equal(false);
      cells.set(LINES - 1, -0.5);
      expect(isFound()).to.equal(true);
      cells.set(0, 1);
      expect(isFound()).to.equal(true);
      cells.set(LINES - 1, 1);
      expect(isFound()).to.equal(false);
      cells.set(0, NaN);
      expect(isFound()).to.equal(true);
      for (let nodeId = 0; nodeId < LINES; nodeId++) text.remove('x', { nodeId, seriesIndex: 0 });
      expect(isFound()).to.equal(false);
    });

  for (const [name, forms] of Object.entries(FORMS))
    it(`(forms: ${name}) reports that a new line has a value that OpenMetrics forbids`, () => {
      const { text, cells, add } = numbers('counter', OPCODE.f64);
      for (let nodeId = 0; nodeId < LINES; nodeId++)
        if (nodeId % 2 === 0) text.remove('x', { nodeId, seriesIndex: 0 });
      text.remove('x', { nodeId: LINES - 1, seriesIndex: 0 });
      expect(runToEnd(text.rendering(forms)).violatesOpenMetrics).to.equal(false);
      cells.set(LINES - 1, -0.5);
      add();
      expect(runToEnd(text.rendering(forms)).violatesOpenMetrics).to.equal(true);
    });

  const table: readonly (readonly [
    MetricType,
    keyof typeof OPCODE,
    string,
    number | bigint,
    boolean,
  ])[] = [
    ['counter', 'f64', '', -1, true],
    ['counter', 'f64', '', NaN, true],
    ['counter', 'f64', '', -Infinity, true],
    ['counter', 'f64', '', Infinity, false],
    ['counter', 'f64', '', -0, false],
    ['counter', 'i64', '', -1n, true],
    ['counter', 'wrap32', '', -1n, false],
    ['counter', 'wrap32', '', -0x100000001n, true],
    ['counter', 'u64', '', -1n, false],
    ['summary', 'f64', '', -1, true],
    ['summary', 'f64', '', NaN, false],
    ['summary', 'f64', '_sum', NaN, true],
    ['summary', 'f64', '_sum', -1, true],
    ['histogram', 'f64', '_sum', -1, true],
    ['gauge', 'f64', '', -1, false],
    ['unknown', 'f64', '', NaN, false],
  ];
  for (const [type, opcode, suffix, value, isForbidden] of table)
    it(`${isForbidden ? 'reports' : 'does not report'} the value ${value} (${opcode}) of x${suffix} if x has type ${type}`, () => {
      const { text, cells } = numbers(type, OPCODE[opcode], suffix);
      if (typeof value === 'bigint') cells.setBits(7, value);
      else cells.set(7, value);
      expect(runToEnd(text.rendering()).violatesOpenMetrics).to.equal(isForbidden);
    });
});
