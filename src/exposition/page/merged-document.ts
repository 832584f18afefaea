// One document of several targets, as programs take it that read one exposition of a host.
import { NameOwners } from '../../catalogue/names.js';
import type { Exposition, FamilyFacts, FamilyText } from '../../model.js';
import { headerText, labelsText, seriesText } from '../text/text-syntax.js';
import type { Labels } from '../text/text-syntax.js';
import { familiesOf } from './scope.js';

/** What one target shows. */
export interface Identified {
  /** The labels that tell it from all other targets. */
  readonly identity: Labels;
  readonly exposition: Exposition;
}

/** A family of several targets. */
interface Merged {
  readonly facts: FamilyFacts;
  readonly of: (readonly [identity: Labels, family: FamilyText])[];
}

export interface MergedDocument {
  /** Each metric that is left out, with the reason. */
  readonly clashes: readonly string[];
  /** Its text, which ends with the text of the exporter's own metrics. */
  readonly pieces: (own: string) => Iterable<Uint8Array>;
}

/** Small enough to build in a few milliseconds, large enough to be worth a write. */
const PIECE_CHARACTERS = 131_072;

/**
 * Text 0.0.4 in which each family stands once, and every series carries the labels of its target. A
 * label that a series has itself stays as it is. Where the metrics of two targets exclude each other, by one
 * name with two types or by a name that belongs to the series of the other, the document has the first one,
 * and a comment names the other. The internal metrics of the targets are not in it.
 */
export function mergedDocument(all: readonly Identified[]): MergedDocument {
  const families = new Map<string, Merged>();
  const owners = new NameOwners();
  const clashes: string[] = [];
  const add = (identity: Labels, family: FamilyText) => {
    const { facts } = family;
    const refusal = owners.refusalOf(facts);
    if (refusal !== '') {
      clashes.push(`${facts.name}{${labelsText(identity)}} is left out: ${refusal}`);
      return;
    }
    const known = families.get(facts.name);
    if (known !== undefined) {
      known.of.push([identity, family]);
      return;
    }
    families.set(facts.name, { facts, of: [[identity, family]] });
    owners.add(facts);
  };
  for (const { identity, exposition } of all)
    if (exposition.kind === 'ready')
      for (const family of familiesOf(exposition)) add(identity, family);
  return { clashes, pieces: (own) => pieces(families.values(), clashes, own) };
}

/** Each piece is built when the writer asks for it. */
function* pieces(
  families: Iterable<Merged>,
  clashes: readonly string[],
  own: string,
): Generator<Uint8Array> {
  let text = clashes.map((each) => `# ${each}\n`).join('');
  for (const { facts, of } of families) {
    text += headerText(facts);
    for (const [identity, family] of of)
      for (const { name, labels, value } of family.samples()) {
        text += `${seriesText(name, labelsText({ ...identity, ...labels }))} ${value}\n`;
        if (text.length < PIECE_CHARACTERS) continue;
        yield Buffer.from(text);
        text = '';
      }
  }
  yield Buffer.from(text + own);
}
