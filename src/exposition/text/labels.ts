// Names and labels of a series, as both text formats write them.

export type Labels = Readonly<Record<string, string>>;

const escapeLabel = (text: string) =>
  !/[\\"\n]/.test(text) ? text : text.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));

/** Labels as they stand between the braces; those with an empty value are left out. */
export function labelsText(labels: Labels): string {
  let text = '';
  for (const key in labels) {
    const value = labels[key] ?? '';
    if (value !== '') text += `${text === '' ? '' : ','}${key}="${escapeLabel(value)}"`;
  }
  return text;
}

/** Name and labels of a series, from labels as `labelsText` gives them. */
export const seriesText = (name: string, labels: string): string =>
  labels === '' ? name : `${name}{${labels}}`;

/** Two label texts as one. */
export const joinLabels = (a: string, b: string): string =>
  a === '' ? b : b === '' ? a : `${a},${b}`;
