// Skips tests that cannot run on this machine, and adds the reason to their names.
import { isInstalled } from './processes.js';

/** Skips the test unless a condition holds. In a `before` hook it skips all tests of the suite. */
export function needs(context: Mocha.Context, holds: boolean, reason: string): asserts holds {
  if (holds) return;
  for (const test of testsOf(context)) test.title += ` (${reason})`;
  context.skip();
}

/** Skips unless all these programs are installed. */
export function needsPrograms(context: Mocha.Context, ...programs: readonly string[]): void {
  for (const program of programs) needs(context, isInstalled(program), `${program} is not in PATH`);
}

/** The user id of Debian's user `nobody`. */
const NOBODY = 65_534;

export const isRoot = process.getuid?.() === 0;

/** Skips unless the tests run as root. */
export const needsRoot = (context: Mocha.Context): void => {
  needs(context, isRoot, 'the tests do not run as root');
};

/** Calls a function as user `nobody` if the tests run as root. */
export function asOrdinaryUser<T>(call: () => T): T {
  if (!isRoot) return call();
  process.seteuid?.(NOBODY);
  try {
    return call();
  } finally {
    process.seteuid?.(0);
  }
}

/** The tests that `skip()` skips: all tests of the suite in a `before` hook, otherwise the running test. */
function testsOf({ test, currentTest }: Mocha.Context): readonly Mocha.Runnable[] {
  const tests: Mocha.Runnable[] = [];
  if (test?.title.startsWith('"before all" hook') === true)
    test.parent?.eachTest((each) => tests.push(each));
  else if (currentTest !== undefined) tests.push(currentTest);
  else if (test !== undefined) tests.push(test);
  return tests;
}
