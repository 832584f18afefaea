// Finds which rows of the specification the loaded tests show.

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

/** The tests of each row, by its number: those below a suite that tests the row. */
export function shownRows(
  root: Suite,
  rowsOf: { readonly get: (suite: Suite) => readonly string[] | undefined },
): ReadonlyMap<string, readonly ShowingTest[]> {
  const shown = new Map<string, ShowingTest[]>();
  const visit = (suite: Suite, above: readonly Place[]): void => {
    const { title, suites, tests } = suite;
    const numbers = rowsOf.get(suite);
    const places =
      numbers === undefined
        ? above.map((place) => ({ ...place, path: [...place.path, title] }))
        : [...above, ...numbers.map((number) => ({ number, path: [] }))];
    for (const test of tests)
      for (const place of places) {
        const showing = { title: [...place.path, test.title].join(' '), file: test.file ?? '' };
        shown.set(place.number, [...(shown.get(place.number) ?? []), showing]);
      }
    for (const child of suites) visit(child, places);
  };
  visit(root, []);
  return shown;
}

/** A row above the present suite, and the titles since. */
interface Place {
  readonly number: string;
  readonly path: readonly string[];
}
