// Merges the metrics of several targets into one document, for programs that read one exposition per host, such as
// textfile collectors.
import { NameOwners } from '../../catalogue/names.js';
import type { DemandAnswer, FamilyMetadata, FamilyText } from '../../model.js';
import { headerText, labelsText, seriesText } from '../text/text-syntax.js';
import type { Labels } from '../text/text-syntax.js';
import { familiesOf } from './scope.js';

/** The exposition of one target. */
export interface IdentifiedAnswer {
  /** The labels that distinguish the target from all others. */
  readonly identity: Labels;
  readonly answer: DemandAnswer;
}

/** A family, with its samples from each target that has it. */
interface MergedFamily {
  readonly metadata: FamilyMetadata;
  readonly members: (readonly [identity: Labels, family: FamilyText])[];
}

export interface MergedDocument {
  /** A sentence for each omitted metric, with the reason. */
  readonly clashes: readonly string[];
  /** Returns the text of the document. It ends with `ownText`, the metrics about the exporter itself. */
  readonly buffers: (ownText: string) => Iterable<Uint8Array>;
}

/** Small enough to build in a few milliseconds, large enough to be worth a write. */
const BUFFER_CHARACTERS = 131_072;

/**
 * Makes a document in text 0.0.4 that has each family once. Each series gets the labels of its target, but keeps its
 * own value of a label that it has already. Two metrics clash if they have the same name but different types, or if
 * the name of one is the name of a series of the other. The document then has the first metric, and a comment names
 * the other. The internal metrics of targets are left out.
 */
export function mergedDocument(all: readonly IdentifiedAnswer[]): MergedDocument {
  const families = new Map<string, MergedFamily>();
  const owners = new NameOwners();
  const clashes: string[] = [];
  const add = (identity: Labels, family: FamilyText) => {
    const { metadata } = family;
    const refusal = owners.refusalOf(metadata);
    if (refusal !== '') {
      clashes.push(`${metadata.name}{${labelsText(identity)}} is left out: ${refusal}`);
      return;
    }
    const known = families.get(metadata.name);
    if (known !== undefined) {
      known.members.push([identity, family]);
      return;
    }
    families.set(metadata.name, { metadata, members: [[identity, family]] });
    owners.add(metadata);
  };
  for (const { identity, answer } of all)
    if (answer.kind === 'ready') for (const family of familiesOf(answer)) add(identity, family);
  return { clashes, buffers: (ownText) => buffers(families.values(), clashes, ownText) };
}

/** Builds each buffer when the writer reads it. */
function* buffers(
  families: Iterable<MergedFamily>,
  clashes: readonly string[],
  ownText: string,
): Generator<Uint8Array> {
  let text = clashes.map((each) => `# ${each}\n`).join('');
  for (const { metadata, members } of families) {
    text += headerText(metadata);
    for (const [identity, family] of members)
      for (const { name, labels, value } of family.samples()) {
        text += `${seriesText(name, labelsText({ ...identity, ...labels }))} ${value}\n`;
        if (text.length < BUFFER_CHARACTERS) continue;
        yield Buffer.from(text);
        text = '';
      }
  }
  yield Buffer.from(text + ownText);
}
