// Runs mocha inside Stryker: its own plugin reads files that mocha 12 no longer has.
import { PluginKind, declareClassPlugin, commonTokens, tokens } from '@stryker-mutator/api/plugin';
import {
  DryRunStatus,
  TestStatus,
  determineHitLimitReached,
} from '@stryker-mutator/api/test-runner';
import { toMutantRunResult } from '@stryker-mutator/api/test-runner';
import { performance } from 'node:perf_hooks';
import Mocha from 'mocha';

/** What Stryker's changes in the code share with the runner. */
const shared = (globalThis.__stryker__ ??= {});

/** Collects the outcome of each test. */
class Outcomes {
  static last = [];
  constructor(runner) {
    const outcomes = (Outcomes.last = []);
    let since = performance.now();
    const add = (test, rest) => {
      const name = test.ctx?.currentTest?.fullTitle() ?? test.fullTitle();
      outcomes.push({ id: name, name, timeSpentMs: performance.now() - since, ...rest });
      since = performance.now();
    };
    runner.on('pass', (test) => add(test, { status: TestStatus.Success, fileName: test.file }));
    runner.on('fail', (test, { message }) =>
      add(test, { status: TestStatus.Failed, failureMessage: message || 'no message' }),
    );
  }
}

const bailAtFirst = (suite, bails) => {
  suite.bail(bails);
  for (const each of suite.suites) bailAtFirst(each, bails);
};
const literally = (text) => text.replace(/[\\^$.|?+*()[\]{}]/g, '\\$&');

class MochaRunner {
  static inject = tokens(commonTokens.options);
  // Without a limit: Stryker ends a process that does not answer, so nothing is left running in it.
  #mocha = new Mocha({ reporter: Outcomes, timeout: 0 }).cleanReferencesAfterRun(false);
  #recordsTests = false;
  #isLoaded = false;

  constructor({ testFiles }) {
    for (const file of testFiles) this.#mocha.addFile(file);
    const atTest = (test) => this.#recordsTests && (shared.currentTestId = test.fullTitle());
    this.#mocha.suite.beforeEach(function () {
      atTest(this.currentTest);
    });
  }

  capabilities() {
    return { reloadEnvironment: false };
  }

  async dryRun({ coverageAnalysis, disableBail }) {
    this.#recordsTests = coverageAnalysis === 'perTest';
    const result = await this.#run(disableBail);
    this.#recordsTests = false;
    return coverageAnalysis === 'off'
      ? result
      : { ...result, mutantCoverage: shared.mutantCoverage };
  }

  async mutantRun({ activeMutant, testFilter, disableBail, hitLimit, mutantActivation }) {
    shared.hitLimit = hitLimit;
    shared.hitCount = hitLimit === undefined ? undefined : 0;
    const names = testFilter?.map((each) => `^${literally(each)}$`).join('|') ?? '';
    this.#mocha.grep(new RegExp(names));
    return toMutantRunResult(await this.#run(disableBail, activeMutant.id, mutantActivation));
  }

  async #run(disableBail, mutant, activation) {
    if (!this.#isLoaded) {
      shared.activeMutant = activation === 'static' ? mutant : undefined;
      await this.#mocha.loadFilesAsync();
      this.#isLoaded = true;
    }
    bailAtFirst(this.#mocha.suite, !disableBail);
    shared.activeMutant = mutant;
    await new Promise((resolve) => this.#mocha.run(resolve));
    return (
      determineHitLimitReached(shared.hitCount, shared.hitLimit) ?? {
        status: DryRunStatus.Complete,
        tests: Outcomes.last,
      }
    );
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'mocha', MochaRunner)];
