// Finds which rows of the specification the loaded tests show.
import type { Section } from './specification-file.js';

/** A test by the titles between its row and itself, and the file that it is compiled from. */
export interface ShowingTest {
  readonly title: string;
  readonly file: string;
}

/** A loaded suite, as far as it matters here. */
export interface Suite {
  readonly title: string;
  readonly suites: readonly Suite[];
  readonly tests: readonly { readonly title: string; readonly file?: string | undefined }[];
}

/** The tests of each row, by its number: those below a suite that has the row's title. */
export function shownRows(
  root: Suite,
  sections: readonly Section[],
): ReadonlyMap<string, readonly ShowingTest[]> {
  const numbers = new Map<string, string>(
    sections.flatMap(({ rows }) =>
      rows.map(([number, sentence]) => [`${number} ${sentence}`, number] as const),
    ),
  );
  const shown = new Map<string, ShowingTest[]>();
  const visit = ({ title, suites, tests }: Suite, above: readonly Place[]): void => {
    const number = numbers.get(title.replace(/:$/, ''));
    const inside = above.map((place) =>
      number === undefined ? { ...place, path: [...place.path, title] } : place,
    );
    const places = number === undefined ? inside : [...inside, { number, path: [] }];
    for (const test of tests)
      for (const place of places) {
        const showing = { title: [...place.path, test.title].join(' '), file: test.file ?? '' };
        shown.set(place.number, [...(shown.get(place.number) ?? []), showing]);
      }
    for (const suite of suites) visit(suite, places);
  };
  visit(root, []);
  return shown;
}

/** A row above the present suite, and the titles since. */
interface Place {
  readonly number: string;
  readonly path: readonly string[];
}
