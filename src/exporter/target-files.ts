// Leaves out faulty files of `targets.d`: each file costs only its own targets.
import type { ConfigProblems } from '../config/config-problems.js';
import { MAX_TARGETS, NO_DISCOVERY, jsonOf } from '../config/file-rule.js';
import type { Config, TargetConfig } from '../config/resolve.js';
import { overlappingTargets } from '../config/targets-file.js';
import { TARGETS_FOLDER } from '../config/targets-folder.js';
import { keyPath } from '../document/document.js';
import type { Plan, Planned } from './plan.js';

/**
 * Leaves out the files that have problems, and those that clash with files before them. The file of `--config` comes
 * first, then the files of `targets.d` in the order of their names.
 */
export function withoutFaultyFiles(config: Config, plan: Plan, problems: ConfigProblems): Planned {
  const kept = new Map<string, TargetConfig>();
  for (const [file, targets] of byFile(config.targets)) {
    if (file !== '') addClashes(config, targets, kept, problems);
    if (problems.targetFileFaults.has(file)) continue;
    for (const target of targets) kept.set(identityOf(target), target);
  }
  const targets = Object.freeze([...kept.values()]);
  const isKept = new Set(targets);
  return {
    config: Object.freeze({ ...config, targets }),
    plan: plan.filter((_planned, index) => {
      const target = config.targets[index];
      return target !== undefined && isKept.has(target);
    }),
    leftOut: problems.targetFileFaults,
    warnings: [...overlaps(config, targets), ...withoutTargets(config, targets)],
  };
}

/** The file of `targets.d` that has a target; empty for the file of `--config`. */
const fileOf = ({ path }: TargetConfig): string => (path.length > 2 ? String(path[0]) : '');

function byFile(targets: readonly TargetConfig[]): ReadonlyMap<string, readonly TargetConfig[]> {
  const files = new Map<string, TargetConfig[]>();
  for (const target of targets) {
    const file = fileOf(target);
    const known = files.get(file);
    if (known === undefined) files.set(file, [target]);
    else known.push(target);
  }
  return files;
}

const identityOf = (target: TargetConfig): string => jsonOf({ ...target, path: undefined });

/** Adds the problems of a file beside the targets that are kept. */
function addClashes(
  config: Config,
  targets: readonly TargetConfig[],
  kept: ReadonlyMap<string, TargetConfig>,
  problems: ConfigProblems,
): void {
  for (const target of targets) {
    const { document, path } = config.located(target.path);
    const earlier = kept.get(identityOf(target));
    if (earlier !== undefined)
      problems
        .of(document)
        .add(path, `repeats ${placeOf(config, earlier)}; the two must differ`, 'key');
    if (kept.size + targets.length <= MAX_TARGETS) continue;
    const sentence = `there would be ${kept.size + targets.length} targets, allowed: at most ${MAX_TARGETS}`;
    problems.of(document).add([], sentence);
  }
}

const placeOf = (config: Config, { path }: TargetConfig): string =>
  `${keyPath(config.located(path).path)} at ${config.at(path)}`;

/** Warnings about pairs of targets from different files. `config.warnings` has those about pairs in one file. */
function overlaps(config: Config, targets: readonly TargetConfig[]): readonly string[] {
  const selections = targets.map(({ app, serverKeys, instance }) => ({
    ...{ app, instance },
    serverKey: serverKeys[0] ?? '',
  }));
  return overlappingTargets(selections).flatMap(({ index, earlier, sentence }) => {
    const [target, other] = [targets[index], targets[earlier]];
    if (target === undefined || other === undefined || fileOf(target) === '') return [];
    const subject = `${config.at(target.path)}: ${keyPath(config.located(target.path).path)}`;
    return [`${subject} has the same server_key and app as ${placeOf(config, other)}: ${sentence}`];
  });
}

const withoutTargets = (config: Config, targets: readonly TargetConfig[]): readonly string[] =>
  targets.length === 0 && config.discover === NO_DISCOVERY
    ? [`there is no target: add [[targets]], a file to ${TARGETS_FOLDER}, or [discover]`]
    : [];
