// Checks configuration and license before a start or reload, and collects all faults.
import type { Arguments } from '../config/arguments.js';
import { ConfigProblems } from '../config/config-problems.js';
import { loadConfig } from '../config/resolve.js';
import type { Config } from '../config/resolve.js';
import type { Settings } from '../config/settings.js';
import { withoutExcerpts } from '../document/document.js';
import { readText } from '../document/text-file.js';
import { Fault, prefixFault } from '../errors.js';
import { readDocument, readLicense } from '../license/license-watch.js';
import { licenseRemedy } from '../license/license.js';
import type { LicenseStatus } from '../license/license.js';
import { refusal } from '../license/license-document.js';
import { trustedKeys } from '../license/license-keys.js';
import type { TrustedKeys } from '../license/license-keys.js';
import { readWebConfig } from '../web-config/web-config.js';
import type { WebConfig } from '../web-config/web-config.js';
import { labelWarnings } from './label-warnings.js';
import { exposureWarnings } from './listeners.js';
import { planTargets } from './plan.js';
import type { Planned } from './plan.js';
import { zoneWarnings } from './process-zone.js';
import { scopeWarnings } from './scopes.js';
import { withoutFaultyFiles } from './target-files.js';

export type Start =
  | {
      readonly kind: 'accepted';
      readonly planned: Planned;
      readonly license: LicenseStatus;
      readonly warnings: readonly string[];
    }
  | {
      readonly kind: 'refused';
      /** The plan; undefined if the configuration itself is invalid. */
      readonly planned: Planned | undefined;
      /** At least one fault: of the configuration, then of the license, then of files of `targets.d`. */
      readonly faults: readonly Fault[];
      /** Warnings about valid settings that are probably not intended; empty if the configuration is invalid. */
      readonly warnings: readonly string[];
    };

/**
 * Checks the files that the arguments name, and whether the license is valid at `now`.
 * @param tz the environment variable TZ
 */
export function checkStart(given: Arguments, now: Date, tz?: string): Start {
  const problems = new ConfigProblems();
  const planned = plannedOf(given, problems);
  const { config, leftOut } = planned;
  const license = licenseOf(config, now);
  const { fault } = problems;
  const warnings =
    fault === undefined ? [...warningsOf(planned), ...zoneWarnings(planned.plan, tz)] : [];
  if (fault === undefined && !(license instanceof Fault) && license !== undefined)
    return { kind: 'accepted', planned, license, warnings };
  // The first fault gives the exit status. Files of `targets.d` alone would not prevent a start.
  const faults = [fault, license, ...leftOut.values()].filter((each) => each instanceof Fault);
  return { kind: 'refused', planned: fault === undefined ? planned : undefined, faults, warnings };
}

/**
 * Checks the configuration for a reload. Checks the license at `now` only if the license settings changed since the
 * start, so that an expired license does not prevent a reload.
 * @throws Fault with all problems, and with the code of the first problem
 */
export function checkReload(given: Arguments, started: Settings, now: Date): Planned {
  const problems = new ConfigProblems();
  const planned = plannedOf(given, problems);
  const { config } = planned;
  const { licenseFile, licenseKeysDir } = config.settings;
  const hasChanged =
    licenseFile !== started.licenseFile || licenseKeysDir !== started.licenseKeysDir;
  const license = hasChanged ? licenseOf(config, now) : undefined;
  const faults = [problems.fault, license].filter((each) => each instanceof Fault);
  const [first] = faults;
  if (first === undefined) return planned;
  throw new Fault(first.code, faults.map(({ message }) => message).join('\n'));
}

function plannedOf(given: Arguments, problems: ConfigProblems): Planned {
  const config = loadConfig(given, problems);
  const planned = withoutFaultyFiles(config, planTargets(config, problems), problems);
  const file = config.settings.webConfigFile;
  const web = file === '' ? undefined : problems.attempt(() => webConfigOf(config, file));
  const exposure = exposureWarnings(config, planned.plan, web);
  return { ...planned, warnings: [...planned.warnings, ...exposure] };
}

function webConfigOf(config: Config, file: string): WebConfig {
  // A problem inside the web configuration states its position there. If the file cannot be read, the problem names
  // the setting.
  prefixFault(config.subject(['web_config_file']), () => readText(file));
  return readWebConfig(file);
}

/** Warnings about valid settings that are probably not intended, one sentence each. */
export const warningsOf = ({ config, plan, warnings }: Planned): readonly string[] => [
  ...config.warnings,
  ...plan.flatMap(({ warnings }) => warnings),
  ...labelWarnings(config, plan),
  ...scopeWarnings(config, plan),
  ...warnings,
];

/** The maximum number of lines about a file. */
const MAX_LINES = 10;

/** Lines for the log about the files of `targets.d` that are left out. */
export const leftOutLines = ({ leftOut }: Pick<Planned, 'leftOut'>): readonly string[] =>
  [...leftOut].flatMap(([name, { message }]) => {
    const lines = withoutExcerpts(message);
    const more = lines.length > MAX_LINES ? ['--check-config lists the other problems'] : [];
    return [`the targets of ${name} are left out:`, ...lines.slice(0, MAX_LINES), ...more];
  });

/** @throws Fault LICENSE_REJECTED with the reason and what to do, or LICENSE_EARLY */
function acceptedLicense(file: string, now: Date, keys: TrustedKeys): LicenseStatus {
  try {
    return readLicense(file, now, keys);
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code === 'LICENSE_EARLY') throw thrown;
    throw refusal(thrown.message, licenseRemedy(file, keys, thrown.cause));
  }
}

/**
 * Checks the license; returns its status, or a Fault if the license is refused. Undefined if a license setting is
 * invalid.
 */
function licenseOf(config: Config, now: Date): LicenseStatus | Fault | undefined {
  if (!config.isSound('license_file')) return undefined;
  const { licenseFile, licenseKeysDir } = config.settings;
  const areKeysKnown = config.isSound('license_keys_dir');
  try {
    const keys = areKeysKnown ? trustedKeys(licenseKeysDir) : undefined;
    return prefixFault(config.subject(['license_file']), () => {
      if (keys !== undefined) return acceptedLicense(licenseFile, now, keys);
      // Without keys, check only that the file can be read.
      readDocument(licenseFile);
      return undefined;
    });
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    return thrown;
  }
}
