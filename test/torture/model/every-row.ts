// EVERY_ROW is a catalogue for the classes of a publication, with every kind of row that shows current
// values.
import type { CatalogueText } from '#app/catalogue/catalogue.js';

const row = (name: string, type: string, rest: string): string =>
  `  { name = "demo_${name}", type = "${type}", help = "H.", ${rest} },`;

const rowsOf = (alias: string): string =>
  [
    row(`${alias}_state`, 'stateset', 'var = "@state"'),
    row(`${alias}_mode`, 'stateset', 'var = "m", states = ["0", "1", "2"]'),
    row(`${alias}_texts_info`, 'info', 'labels_from = { mode = "m", text = "t" }'),
    row(`${alias}_seconds`, 'gauge', 'unit = "seconds", var = "m", conv = "timestamp"'),
    row(`${alias}_pair`, 'summary', 'sum_var = "g", count_var = "n", scale = 0.5'),
    row(`${alias}_h`, 'histogram', 'var = "h", scale = 2'),
    row(`${alias}_i`, 'gauge', 'var = "i", scale = 0.1'),
    row(`${alias}_n_total`, 'counter', 'var = "{letter}"'),
  ].join('\n');

const classOf = (alias: string, paths: string): string => `[[classes]]
alias = "${alias}"
class_ids = ["${alias.replace(/\d/, '')}"]
paths = [${paths}]
metrics = [
${rowsOf(alias)}
]
`;

const DEEP = ['"{x}"', '"{x}.{y}"', '"{x}.{y}.{z}"'];

export const EVERY_ROW: CatalogueText = {
  file: 'demo.toml',
  text: [
    'app = "demo"\n',
    classOf('top', '"@root"'),
    ...['unit', 'part'].flatMap((name) =>
      DEEP.map((path, depth) => classOf(`${name}${depth + 1}`, path)),
    ),
  ].join(''),
};
