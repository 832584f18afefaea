import { expect } from 'chai';
import { parseCatalogue, readCatalogue } from '#app/catalogue/catalogue.js';
import { ownLabelsOf } from '#app/catalogue/row.js';
import type { Row } from '#app/catalogue/row.js';
import { Fault } from '#app/errors.js';
import { OBJECT_STATES } from '#app/model.js';
import { SCALAR_TYPES } from '#app/published.js';

const CLASS = 'app = "x"\n[[classes]]\nalias = "c"\nclass_ids = ["C"]\npaths = ["a.{l}"]\n';
const withRows = (...rows: string[]): string =>
  `${CLASS}metrics = [\n${rows.map((row) => `{ ${row} },\n`).join('')}]\n`;
const gauge = (name: string, rest: string): string =>
  `name = "${name}", type = "gauge", help = "H", ${rest}`;

function onlyRow(row: string): Row {
  const [first] = parseCatalogue({ text: withRows(row), file: 'x.toml' }).classes[0]?.rows ?? [];
  if (first === undefined) throw new Error('no row');
  return first;
}

function faultOf(text: string): Fault {
  try {
    parseCatalogue({ text, file: 'x.toml' });
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error('no fault');
}

describe('a catalogue file', () => {
  const NUMBERS = ['i64', ...SCALAR_TYPES.filter((type) => type !== 'i64')];
  const TOTALS = ['u64', ...SCALAR_TYPES.filter((type) => type !== 'u64')];
  const TEXTS = ['string', ...SCALAR_TYPES];
  const unchanged = { multiply: 1, divide: 1 };
  const base = {
    labels: {},
    at: '',
    classId: undefined,
    where: 'classes[0].metrics[0]',
    isPersonal: false,
  };
  const family = (type: string, name = 'x_m') => ({ name, type, unit: '', help: 'H' });
  const number = {
    types: NUMBERS,
    pattern: undefined,
    workers: undefined,
    conversion: unchanged,
    unit: '',
  };
  const published = { conversion: unchanged, unit: '' };
  const METHODS = new Set(['linesOf', 'series', 'ofState', 'labelProblem']);
  /** Returns the plain fields of a row, and how many series it has for a variable without a schema. */
  const fieldsOf = (row: Row) => ({
    ...Object.fromEntries(Object.entries(row).filter(([name]) => !METHODS.has(name))),
    lines: row.linesOf(),
    isState: row.ofState !== undefined,
    mindsLabels: row.labelProblem !== undefined,
  });
  const kinds: [string, object][] = [
    [
      'name = "x_m", type = "gauge", help = "H", var = "v", scale = 0.01',
      {
        family: family('gauge'),
        inputs: [{ ...number, variable: 'v', conversion: { multiply: 1, divide: 100 } }],
      },
    ],
    [
      'name = "x_m_total", type = "counter", help = "H", var = "v", static = { k = "w" }',
      {
        family: family('counter', 'x_m_total'),
        labels: { k: 'w' },
        inputs: [{ ...number, variable: 'v', types: TOTALS }],
      },
    ],
    [
      'name = "x_m", type = "stateset", help = "H", var = "@state"',
      {
        family: family('stateset'),
        ...{ isComputed: true, lines: OBJECT_STATES.length, isState: true, mindsLabels: true },
      },
    ],
    [
      'name = "x_m_info", type = "info", help = "H", labels_from = { a = "A", b = "B" }',
      {
        family: family('info', 'x_m_info'),
        inputs: ['A', 'B'].map((variable) => ({ variable, types: TEXTS })),
        ownLabels: ['a', 'b'],
        isComputed: true,
      },
    ],
    [
      'name = "x_m", type = "stateset", help = "H", var = "v", states = ["on", "off"]',
      {
        family: family('stateset'),
        inputs: [{ variable: 'v', types: TEXTS, texts: ['on', 'off'] }],
        ...{ isComputed: true, lines: 2, mindsLabels: true },
      },
    ],
    [
      'name = "x_m", type = "gauge", help = "H", var = "v", conv = "timestamp"',
      {
        family: family('gauge'),
        inputs: [{ variable: 'v', types: TEXTS, isTime: true }],
        isComputed: true,
      },
    ],
    [
      'name = "x_m", type = "histogram", help = "H", var = "v"',
      {
        family: family('histogram'),
        inputs: [{ ...published, variable: 'v', types: ['histogram'] }],
        ...{ isComputed: true, lines: 3 },
      },
    ],
    [
      'name = "x_m", type = "histogram", help = "H", var = "v", observe = true, buckets = [1, 2.5]',
      {
        family: family('histogram'),
        inputs: [{ ...published, variable: 'v', types: NUMBERS }],
        lines: 5,
      },
    ],
    [
      'name = "x_m", type = "summary", help = "H", var = "v", observe = true, quantiles = [0.5, 1]',
      {
        family: family('summary'),
        inputs: [{ ...published, variable: 'v', types: NUMBERS }],
        lines: 4,
      },
    ],
    [
      'name = "x_m", type = "summary", help = "H", sum_var = "s", count_var = "n", wrap32 = false, ' +
        'at = "k", class_id = "K"',
      {
        family: family('summary'),
        at: 'k',
        classId: 'K',
        inputs: [
          { ...published, variable: 's', types: TOTALS },
          { variable: 'n', types: TOTALS },
        ],
        lines: 2,
      },
    ],
  ];
  const plain = { inputs: [], ownLabels: [], isComputed: false, lines: 1 };
  const usual = { ...base, ...plain, isState: false, mindsLabels: false };
  for (const [row, wanted] of kinds)
    it(`may have the row \`${row}\``, () =>
      expect(fieldsOf(onlyRow(row))).to.deep.equal({ ...usual, ...wanted }));

  it('states the type, unit and help of a metric once, in the first row of the metric', () => {
    const { classes, families } = parseCatalogue({
      text: withRows(
        gauge('x_m_items', 'unit = "items", var = "a", static = { k = "a" }'),
        'name = "x_m_items", var = "b", static = { k = "b" }',
      ),
      file: 'x.toml',
    });
    const [one, two] = classes[0]?.rows ?? [];
    expect(one?.family).to.deep.equal({
      name: 'x_m_items',
      type: 'gauge',
      unit: 'items',
      help: 'H',
    });
    expect(two?.family).to.equal(one?.family);
    expect([...families.keys()]).to.deep.equal(['x_m_items']);
  });

  it('determines the variables and labels of each row', () => {
    const pattern = onlyRow(gauge('x_m', 'var = "v.{port}", static = { k = "a" }'));
    expect(pattern.inputs.map(({ pattern: one }) => one?.capture('v.9'))).to.deep.equal(['9']);
    expect(ownLabelsOf(pattern)).to.deep.equal(['port', 'k']);
    const info = onlyRow(
      'name = "x_i_info", type = "info", help = "H", labels_from = { a = "V", b = "V" }',
    );
    expect(info.inputs.map(({ variable }) => variable)).to.deep.equal(['V']);
    expect(ownLabelsOf(info)).to.deep.equal(['a', 'b']);
  });

  it('has all its mistakes reported, even in a row with a wrong name and in a second row with this name', () => {
    const text = withRows(
      'name = "y_m_count", type = "guage", static = { le = "a" }, scale = 0',
      'name = "y_m_count", labels_from = { "b-c" = "v" }, buckets = [2, 1]',
    );
    const { problems } = readCatalogue({ file: 'x.toml', text });
    const found = (problems.fault?.message ?? '')
      .split('\n')
      .map((line) => line.replace(/^x\.toml:\d+:\d+: classes\[0\]\.metrics/, ''));
    expect(found.map((line) => line.replace(/, allowed.*/, ''))).to.have.members([
      '[0].help: found nothing, needed: the meaning of the metric',
      '[0].type: found "guage" (did you mean "gauge"?)',
      '[0].name: "y_m_count" must begin with x_',
      '[0].name: "y_m_count" must not end in _count',
      '[0].static.le: "le" is a reserved label, as are instance, job, le, quantile',
      '[0].scale: found 0',
      '[1].labels_from.b-c: "b-c" is not a label name',
      '[1].buckets[1]: found 1',
    ]);
  });

  const wrong: [string, string][] = [
    ['app = ', 'x.toml:1:7: '],
    [
      'app = "x"',
      'x.toml:1:1: classes: found nothing, needed: an array of [[classes]] tables, which may be empty',
    ],
    ['app = 7\nclasses = []', 'x.toml:1:7: app: found 7, allowed: a string of 1 to 64 letters'],
    [
      'app = "x y"\nclasses = []',
      'app: found "x y" (did you mean "x_y"?), allowed: a string of 1 to 64 letters, digits and "_" that starts with a letter',
    ],
    ['app = "x"\nclasses = [1]', 'classes[0]: found 1, allowed: a table'],
    ['app = "x"\nclass = []', 'class: unknown key (did you mean "classes"?)'],
    [`${CLASS}metric = []`, 'classes[0].metric: unknown key (did you mean "metrics"?)'],
    [
      `${CLASS.replace('"C"', '')}metrics = []`,
      'classes[0].class_ids: found an empty array, allowed: an array of at least 1 item, each a string of 1 to 1024 characters in one line',
    ],
    [
      `${CLASS.replace('"C"', '""')}metrics = []`,
      'classes[0].class_ids[0]: found "", allowed: a string of 1 to 1024 characters in one line',
    ],
    [`${CLASS.replace('{l}', '{l')}metrics = []`, 'classes[0].paths[0]: "{l" has a stray brace'],
    [
      `${CLASS.replace('["a.{l}"]', '["a.{l}", "b"]')}metrics = []`,
      'must capture the same labels as a.{l}',
    ],
    [`${CLASS}src = 1\nmetrics = []`, 'classes[0].src: found 1, allowed: a string'],
    [
      `${withRows()}[[classes]]\nalias = "c"\nclass_ids = ["D"]\npaths = ["b"]\nmetrics = []`,
      'classes[1].alias: repeats classes[0].alias; the two must differ',
    ],
    [`${withRows()}[seed_path_groups]\ng = [""]`, 'seed_path_groups.g[0]: a seed path is empty'],
    [
      `${withRows()}[seed_path_groups]\ng = "a"`,
      'seed_path_groups.g: found "a" (write ["a"]), allowed: an array of items, each a string',
    ],
    [
      withRows('type = "gauge"'),
      'classes[0].metrics[0].name: found nothing, needed: the name of a metric',
    ],
    [
      withRows('name = "x_m", var = "v"'),
      'metrics[0].type: found nothing, needed: the type of the metric',
    ],
    [withRows(gauge('x_m', 'vra = "v"')), 'metrics[0].vra: unknown key (did you mean "var"?)'],
    [
      withRows('name = "x_m", type = "guage", help = "H"'),
      'found "guage" (did you mean "gauge"?), allowed: "counter" or "gauge"',
    ],
    [
      withRows('name = "x_m", type = "gauge", help = " ", var = "v"'),
      'help: found " ", allowed: a string that is not empty',
    ],
    [withRows(gauge('x-m', 'var = "v"')), '"x-m" is not a metric name'],
    [withRows(gauge('y_m', 'var = "v"')), '"y_m" must begin with x_'],
    [withRows(gauge('x_m_total', 'var = "v"')), 'only metrics of type counter may end in _total'],
    [withRows(gauge('x_m_count', 'var = "v"')), 'must not end in _count'],
    [withRows('name = "x_m", type = "counter", help = "H", var = "v"'), 'must end in _total'],
    [
      withRows(gauge('x_m', 'unit = "bytes", var = "v"')),
      'the unit "bytes" must be the last word of "x_m"',
    ],
    [
      withRows(gauge('x_m', 'var = "v"'), 'name = "x_m", help = "other", var = "w"'),
      'differs from the first row of x_m, where it is "H"',
    ],
    [
      withRows(
        gauge('x_m', 'var = "v"'),
        'name = "x_m_info", type = "info", help = "H", labels_from = { a = "A" }',
      ),
      'both need the name x_m',
    ],
    [
      withRows(
        'name = "x_m", type = "summary", help = "H", var = "v"',
        gauge('x_m_sum', 'var = "w"'),
      ),
      'x_m_sum and x_m both need the name x_m_sum',
    ],
    [withRows(gauge('x_m', '')), 'metrics[0].var: found nothing, needed: the name of a variable'],
    [
      withRows(gauge('x_m', 'var = "v", buckets = [1]')),
      'buckets: is not allowed for x_m, because its row has var',
    ],
    [
      withRows(gauge('x_m', 'var = "v", sum_var = "s", count_var = "c"')),
      'the keys of its row are for type summary',
    ],
    [
      withRows(gauge('x_m', 'var = ""')),
      'var: found "", allowed: a string of 1 to 1024 characters in one line',
    ],
    [withRows(gauge('x_m', 'var = "@state"')), 'needs type stateset'],
    [withRows(gauge('x_m', 'var = "v.{a}.{b}"')), 'exactly one {label}'],
    [
      withRows(gauge('x_m', 'var = "v", scale = 0')),
      'scale: found 0, allowed: a number greater than 0',
    ],
    [
      withRows(gauge('x_m', 'var = "v", scale = [99999999999]')),
      'found an array of 1, allowed: a number greater than 0',
    ],
    [
      withRows(gauge('x_m', 'var = 1979-05-27')),
      'found the date or time 1979-05-27, allowed: a string',
    ],
    [
      withRows('name = "x_m", type = "counter", help = "H", var = "v"'),
      '"x_m" has type counter and must end in _total',
    ],
    [
      withRows(gauge('x_m', 'var = "v", scale = inf')),
      'found inf, allowed: a number greater than 0',
    ],
    [withRows(gauge('x_m', 'var = "v", wrap32 = true')), 'wrap32: is not allowed for type gauge'],
    [
      withRows(gauge('x_m', 'var = "v", conv = "date"')),
      'conv: found "date", allowed: "timestamp"',
    ],
    [withRows(gauge('x_m', 'var = "v", at = "k"')), '"at" and "class_id" must be given together'],
    [
      withRows(gauge('x_m', 'var = "v", at = "{k}", class_id = "K"')),
      'found "{k}", allowed: the literal path of an object',
    ],
    ...['instance', 'job', 'le', 'quantile'].map((label): [string, string] => [
      withRows(gauge('x_m', `var = "v", static = { ${label} = "w" }`)),
      `static.${label}: "${label}" is a reserved label`,
    ]),
    [withRows(gauge('x_m', 'var = "v", static = { l = "w" }')), 'gives the label "l" twice'],
    [
      withRows(gauge('x_m', 'var = "v", static = { k = 1 }')),
      'static.k: found 1, allowed: a string',
    ],
    [
      withRows(
        'name = "x_m", type = "histogram", help = "H", var = "v", observe = true, buckets = [1, 1]',
      ),
      'buckets[1]: found 1, allowed: a number greater than 1',
    ],
    [
      withRows(
        'name = "x_m", type = "histogram", help = "H", var = "v", observe = true, buckets = []',
      ),
      'buckets: found an empty array, allowed: an array of 1 to 1000 items, each a finite number',
    ],
    [
      withRows(
        'name = "x_m", type = "histogram", help = "H", var = "v", observe = false, buckets = [1]',
      ),
      'observe: found false, allowed: true',
    ],
    [
      withRows(
        'name = "x_m", type = "summary", help = "H", var = "v", observe = true, quantiles = [0.5, 1.5]',
      ),
      'quantiles[1]: found 1.5, allowed: a number from 0 to 1',
    ],
    [
      withRows('name = "x_m", type = "summary", help = "H", sum_var = "s", count_var = "s"'),
      'count_var: repeats classes[0].metrics[0].sum_var; the two must differ',
    ],
    [
      withRows('name = "x_m", type = "summary", help = "H", sum_var = "s"'),
      'count_var: found nothing, needed: the name of the variable with the count',
    ],
    [
      withRows('name = "x_m", type = "stateset", help = "H", var = "v", states = ["a", "a"]'),
      'states[1]: repeats classes[0].metrics[0].states[0]; the two must differ',
    ],
    [
      withRows(
        'name = "x_m", type = "stateset", help = "H", var = "v", states = ["a"], static = { x_m = "w" }',
      ),
      'gives a label the name of the metric; only the label of the states may have this name',
    ],
    [
      withRows('name = "x_i_info", type = "info", help = "H", labels_from = {}'),
      'found an empty table, needed: at least one label',
    ],
    [
      withRows('name = "x_i_info", type = "info", help = "H", labels_from = { a = "" }'),
      'labels_from.a: found "", allowed: a string of 1 to 1024',
    ],
    [
      withRows('name = "x_i_info", type = "info", help = "H", labels_from = { a = "@state" }'),
      'labels_from.a: found "@state", the state of the object, which needs',
    ],
    [
      withRows('name = "x_i_info", type = "info", help = "H", labels_from = { a = "b.{c}" }'),
      'labels_from.a: found "b.{c}", allowed: a plain name',
    ],
    [
      withRows(gauge('x_m', 'var = "v", static = { k = "a" }'), 'name = "x_m", var = "w"'),
      'x_m has the labels (l) here and (k, l) at classes[0].metrics[0]',
    ],
  ];
  for (const [text, message] of wrong)
    it(`is refused with a message that contains: ${message}`, () => {
      const fault = faultOf(text);
      expect(fault.code).to.equal('CONFIG_INVALID');
      expect(fault.message).to.include(message);
      expect(fault.message).not.to.match(/\.$/m);
    });

  for (const type of ['counter', 'info'])
    it(`causes no message that a metric clashes with itself if the metric lacks the suffix of type ${type}`, () => {
      const row = `name = "x_m", type = "${type}", help = "H", var = "v"`;
      expect(faultOf(withRows(row)).message).not.to.include('x_m and x_m');
    });

  it('with several problems is refused with one line for each problem', () => {
    const fault = faultOf(
      withRows(gauge('x_a', 'var = 1'), gauge('x_b', 'scale = "1", var = "v"'), 'type = "gauge"'),
    );
    expect(fault.message.split('\n')).to.deep.equal([
      'x.toml:7:51: classes[0].metrics[0].var: found 1, allowed: a string of 1 to 1024 characters in one line',
      'x.toml:8:53: classes[0].metrics[1].scale: found "1", allowed: a number greater than 0',
      'x.toml:9:1: classes[0].metrics[2].name: found nothing, needed: the name of a metric',
    ]);
  });
});

describe('two rows of a catalogue', () => {
  const other = (id: string, path: string, row: string): string =>
    `[[classes]]\nalias = "d"\nclass_ids = ["${id}"]\npaths = ["${path}"]\nmetrics = [{ ${row} }]\n`;
  const first = gauge('x_m', 'var = "v"');
  const again = 'name = "x_m", var = "w"';
  const same: [string, string][] = [
    ['in one class', withRows(first, again)],
    ['at two places below one class', withRows(first, `${again}, at = "k", class_id = "K"`)],
    ['in two classes for the same object', withRows(first) + other('C', 'a.{l~[a-z]+}', again)],
  ];
  for (const [where, text] of same)
    it(`${where} are refused if both give the same series`, () =>
      expect(faultOf(text).message).to.match(
        /gives the same series of x_m as the row classes\[0\]/,
      ));

  const different: [string, string][] = [
    [
      'static labels differ',
      withRows(gauge('x_m', 'var = "v", static = { k = "a" }'), `${again}, static = { k = "b" }`),
    ],
    ['class ids differ', withRows(first) + other('D', 'a.{l}', again)],
    ['paths differ', withRows(first) + other('C', 'b.{l}', again)],
  ];
  for (const [why, text] of different)
    it(`may give the same metric if their ${why}`, () =>
      expect(parseCatalogue({ text, file: 'x.toml' }).families.size).to.equal(1));
});
