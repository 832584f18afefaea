// How the tests are tested: Stryker changes the code, and some test has to fail. See CONTRIBUTING.md.
/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  plugins: ['./mutants/mocha-runner.js'],
  testRunner: 'mocha',
  testRunnerNodeArgs: ['--expose-gc'],
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  // One build has all mutants; a switch at run time chooses one.
  buildCommand: 'npx tsc -b src test',
  timeoutMS: 2000,
  concurrency: 2,
  tempDirName: 'coverage/stryker',
  reporters: ['progress-append-only', 'clear-text', 'json'],
  jsonReporter: { fileName: 'coverage/mutants.json' },
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
};
