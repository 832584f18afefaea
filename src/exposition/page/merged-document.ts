// Merges the metrics of several targets into one document, for programs that read one exposition per host, such as
// textfile collectors.
import { NameOwners } from '../../catalogue/names.js';
import type { DemandAnswer, FamilyMetadata, Piece } from '../../model.js';
import { headerText, labelsText, samplesIn, seriesText, textOf } from '../text/text-syntax.js';
import type { Labels } from '../text/text-syntax.js';
import { textBuffers, textLines } from './text-page.js';

/** The exposition of one target. */
export interface IdentifiedAnswer {
  /** The labels that distinguish the target from all others. */
  readonly identity: Labels;
  readonly answer: DemandAnswer;
}

/** A family, with its lines from each target that has it. */
interface MergedFamily {
  readonly metadata: FamilyMetadata;
  readonly members: (readonly [identity: Labels, lines: Piece])[];
}

export interface MergedDocument {
  /** A sentence for each omitted metric, with the reason. */
  readonly clashes: readonly string[];
  /** Returns the text of the document. It ends with `ownText`, the metrics about the exporter itself. */
  readonly buffers: (ownText: string) => Iterable<Uint8Array>;
}

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
  /** Claims the names of a metric. If another metric has one of them, records the clash and returns false. */
  const claim = (identity: Labels, metadata: FamilyMetadata): boolean => {
    const refusal = owners.refusalOf(metadata);
    if (refusal === '') owners.add(metadata);
    else clashes.push(`${metadata.name}{${labelsText(identity)}} is left out: ${refusal}`);
    return refusal === '';
  };
  for (const { identity, answer } of all) {
    if (answer.kind !== 'ready') continue;
    const { snapshot } = answer;
    const shown = new Set(snapshot.metadata.filter((each) => claim(identity, each)));
    for (const lines of textLines(snapshot)) {
      const { family } = lines;
      if (!shown.has(family)) continue;
      const merged = families.get(family.name) ?? { metadata: family, members: [] };
      merged.members.push([identity, lines]);
      families.set(family.name, merged);
    }
  }
  return {
    clashes,
    buffers: (ownText) => textBuffers(textsOf(families.values(), clashes, ownText)),
  };
}

function* textsOf(
  families: Iterable<MergedFamily>,
  clashes: readonly string[],
  ownText: string,
): Generator<string> {
  for (const each of clashes) yield `# ${each}\n`;
  for (const { metadata, members } of families) {
    yield headerText(metadata);
    for (const [identity, lines] of members)
      for (const { name, labels, value } of samplesIn(textOf(lines)))
        yield `${seriesText(name, labelsText({ ...identity, ...labels }))} ${value}\n`;
  }
  yield ownText;
}
