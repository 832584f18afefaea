// Describes the keys of a catalogue, for messages about missing ones.

const WORDS: Readonly<Record<string, string>> = {
  app: 'the name of the application',
  classes: 'an array of [[classes]] tables, perhaps empty',
  alias: 'the name that targets know the class by',
  class_ids: 'an array of class ids',
  paths: 'an array of path patterns',
  metrics: 'an array of rows, perhaps empty',
  name: 'the name of a metric',
  type: 'the type of the metric',
  help: 'what the metric means',
  var: 'the name of a variable',
  sum_var: 'the name of the variable with the sum',
  count_var: 'the name of the variable with the count',
  conv: '"timestamp"',
  observe: 'true',
  buckets: 'an array of ascending numbers',
  quantiles: 'an array of ascending numbers from 0 to 1',
  states: 'an array of the names of states',
  labels_from: 'a table of labels with the names of variables',
};

export const wordsFor = (key: string): string => WORDS[key] ?? 'a value';
