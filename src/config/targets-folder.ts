// Reads the folder `targets.d` beside the configuration file: each file holds further targets.
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseToml } from '../document/toml-file.js';
import { readText, systemReason } from '../document/text-file.js';
import { Fault, catchFault } from '../errors.js';
import { readNames } from '../foreign/directory-listing.js';
import { pluralize } from '../pluralize.js';
import type { ConfigProblems } from './config-problems.js';
import { TARGET_FILE } from './file-rule.js';
import type { TargetsDocument } from './file-rule.js';

export const TARGETS_FOLDER = 'targets.d';
/** The maximum number of files to read. */
const MAX_FILES = 256;
/** The maximum size of a file. */
const MAX_BYTES = 65_536;

export interface TargetsFolder {
  /** Whether the folder exists. */
  readonly exists: boolean;
  /** The readable files by name, such as `targets.d/shop.toml`, in the order of their names. */
  readonly files: ReadonlyMap<string, TargetsDocument>;
}

export const NO_FOLDER: TargetsFolder = { exists: false, files: new Map() };

/** Whether there is a folder `targets.d` beside the configuration file. */
export const hasTargetsFolder = (configFile: string): boolean =>
  statSync(join(dirname(configFile), TARGETS_FOLDER), { throwIfNoEntry: false }) !== undefined;

/**
 * Reads the targets of all files of the folder beside the configuration file. Adds the problems of each file to
 * `problems`, under the name of the file.
 */
export function readTargetsFolder(configFile: string, problems: ConfigProblems): TargetsFolder {
  const parent = dirname(configFile);
  const files = new Map<string, TargetsDocument>();
  for (const base of fileNames(join(parent, TARGETS_FOLDER), problems)) {
    const name = join(TARGETS_FOLDER, base);
    const path = join(parent, name);
    const note = (fault: Fault): void => {
      problems.noteTargetFile(name, fault);
    };
    const document = catchFault(
      () => parseToml(path, readText(path, { maxBytes: MAX_BYTES })),
      note,
    );
    if (document === undefined) continue;
    const values = problems.ofTargetFile(name, document).read(document, TARGET_FILE);
    files.set(name, { document, targets: values?.targets ?? [] });
  }
  return { exists: true, files };
}

/** The names of the files to read. Files that begin with a dot belong to editors, package managers or Kubernetes. */
function fileNames(folder: string, problems: ConfigProblems): readonly string[] {
  const refuse = (clause: string): void => {
    problems.noteTargetFile(TARGETS_FOLDER, new Fault('CONFIG_INVALID', `${folder}: ${clause}`));
  };
  try {
    const { names, isTruncated } = readNames(folder);
    const found = names.filter((name) => name.endsWith('.toml') && !name.startsWith('.')).sort();
    const surplus = found[MAX_FILES];
    if (surplus !== undefined)
      refuse(
        `has ${isTruncated ? 'more than ' : ''}${pluralize(found.length, 'file')}, allowed: ${MAX_FILES}; ${join(folder, surplus)} and all files after it are left out`,
      );
    return found.slice(0, MAX_FILES);
  } catch (error) {
    refuse(`cannot be read: ${systemReason(error)}`);
    return [];
  }
}
