import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../support/processes.js';
import { SECTIONS, citationOf } from './rows.js';
import { shownRows } from './shown-rows.js';
import type { Suite } from './shown-rows.js';
import { readSpecification } from './specification-file.js';
import { specificationMarkdown } from './specification-markdown.js';
import { needs } from '../support/needs.js';

const SPECIFICATION = join(PROJECT, '../shared/spec.md');

describe('the rows of the specification', () => {
  it('equal the rows of the document, word for word', function () {
    needs(this, existsSync(SPECIFICATION), 'the specification is not beside the project');
    expect(SECTIONS).to.deep.equal(readSpecification(readFileSync(SPECIFICATION, 'utf8')));
  });

  it('have distinct numbers', () => {
    const numbers = SECTIONS.flatMap(({ rows }) => rows.map(([number]) => number));
    expect(new Set(numbers).size).to.equal(numbers.length);
  });

  it('are cited by number, and an unknown number is rejected', () => {
    const version = '[spec 9.1: "shm_exporter --version prints the binary version"]';
    expect(citationOf(['9.1'])).to.equal(version);
    expect(citationOf(['7 404', '7 400', '2.5'])).to.match(
      /^\[spec 7 404: ".+"; also 400, 2\.5\]$/,
    );
    expect(() => citationOf(['9.1', '9.7'])).to.throw('The specification has no row 9.7');
  });
});

describe('the reader of a specification', () => {
  const document = `# Title

Before everything.

## 1. Things

1. A thing is.
   It has parts:
   1. One part.
   2. Another part. Its colour is not shown.
2. Modes:

| Mode | When | Then |
|---|---|---|
| Big | it is large | it fills |

3. It ends:
   - Here.
   - There.

## 2. States

Intro:

| State | Next |
|---|---|
| one | two |
| two | \`three\` |

Last words.

## Options

| Option | Effect |
|---|---|
| \`--go <far>\` | goes |
`.replace('.\n   It', '. It');

  it('numbers rules, parts, table rows, states, options and paragraphs', () =>
    expect(readSpecification(document)).to.deep.equal([
      {
        title: '1. Things',
        rows: [
          ['1.1', 'A thing is.'],
          ['1.1.1', 'One part.'],
          ['1.1.2', 'Another part.'],
          ['1.2 big', 'Mode Big, when it is large: it fills'],
          ['1.3', 'It ends: Here. There.'],
        ],
      },
      {
        title: '2. States',
        rows: [
          ['2.1', 'State one: two'],
          ['2.2', 'State two: `three`'],
          ['2', 'Last words.'],
        ],
      },
      { title: 'Options', rows: [['CLI --go', 'Option `--go <far>`: goes']] },
    ]));
});

describe('the page of the specification', () => {
  const sections = [
    { title: '1. Things', rows: [['1.1', 'A <thing> is `<this>`|that.'] as const] },
  ];
  const test = { title: 'is [big]', file: 'test/a.test.ts' };
  const suite = (title: string, suites: readonly Suite[] = []): Suite => ({
    title,
    suites,
    tests: suites.length > 0 ? [] : [test],
  });

  it('lists the tests in a suite that tests a row', () => {
    const row = suite('1.1', [suite('here')]);
    const root = suite('', [suite('around', [row]), suite('another')]);
    const shown = shownRows(root, new Map([[row, ['1.1']]]));
    expect([...shown]).to.deep.equal([['1.1', [{ ...test, title: 'here is [big]' }]]]);
  });

  it('has one line for each row, with each of its tests once', () =>
    expect(specificationMarkdown(sections, new Map([['1.1', [test, test]]]))).to.contain(
      '\n| 1.1 | A &lt;thing> is `<this>`\\|that. | [is \\[big\\]](../../test/a.test.ts) |\n',
    ));

  it('rejects a row without a test', () =>
    expect(() => specificationMarkdown(sections, new Map())).to.throw('Rows without a test: 1.1'));
});
