// Finds which rows of the specification the loaded tests cover.

/** A test that covers a row. Its title begins with the titles of the suites between the row's suite and the test. */
export interface ShowingTest {
  readonly title: string;
  readonly file: string;
}

/** The part of a loaded mocha suite that is needed here. */
export interface Suite {
  readonly title: string;
  readonly suites: readonly Suite[];
  readonly tests: readonly { readonly title: string; readonly file?: string | undefined }[];
}

/** Returns the tests of each row, by the row's number: all tests inside a suite that covers the row. */
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

/** A row that an enclosing suite covers, and the titles of the suites below that suite. */
interface Place {
  readonly number: string;
  readonly path: readonly string[];
}
