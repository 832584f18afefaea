// Joins the snapshots of several targets into one, for documents that have the metrics of all targets.
import { SMALL_BYTES } from '../../bytes.js';
import { NameOwners } from '../../catalogue/names.js';
import { DEFAULT_FORM } from '../../model.js';
import type { FamilyMetadata, LabelledAnswer, LineForm, Piece, Snapshot } from '../../model.js';
import { runToEnd } from '../../run-to-end.js';
import { labelsText } from '../text/text-syntax.js';
import { familiesOf, isText, textLines } from './text-page.js';

export interface JoinedSnapshot {
  readonly snapshot: Snapshot;
  /** A sentence for each metric that is left out, with the reason. */
  readonly leftOut: readonly string[];
}

type Joinable = readonly Pick<LabelledAnswer, 'snapshot' | 'labels'>[];

/** A family of a target. */
interface Member {
  /** The index of the target. */
  readonly target: number;
  readonly family: FamilyMetadata;
}

/** A family of the joined snapshot, with the targets that have it. */
interface JoinedFamily {
  readonly metadata: FamilyMetadata;
  readonly members: Member[];
}

/** The result of comparing the families of all targets. It stays the same while only values change. */
interface Plan {
  readonly families: readonly JoinedFamily[];
  readonly metadata: readonly FamilyMetadata[];
  readonly leftOut: readonly string[];
}

/** The last join of some targets, and what it was made of. */
interface LastJoin {
  readonly plan: Plan;
  readonly targets: readonly string[];
  readonly metadata: readonly (readonly FamilyMetadata[])[];
  readonly reserved: readonly FamilyMetadata[];
  readonly joined: Joined;
}

/**
 * The last join for each first list of families. While no target has changed, all pages share its snapshot, and
 * compress it once. While no target has gained or lost a family, all pages share its plan.
 */
const lastJoins = new WeakMap<readonly FamilyMetadata[], LastJoin>();

const NONE: readonly FamilyMetadata[] = [];

/** This many families are compared, or pieces collected, in one step. A step takes less than a millisecond. */
const ITEMS_A_STEP = 256;

/** Joins snapshots at once; see `joining`. */
export function joinSnapshots(answers: Joinable, reserved = NONE): JoinedSnapshot {
  return runToEnd(joining(answers, reserved));
}

/**
 * Joins snapshots in small steps. Each family has one header, from the first target that has it, above the lines of all
 * targets. Leaves out a family that has another type than the same family of an earlier target, or a name that is also
 * the name of another family's series. Leaves out a target that has the same labels as an earlier target, since its
 * series could not be told apart.
 * @param reserved the families that the document adds itself
 * @param form the form of the lines to join; other forms are joined when they are read
 */
export function* joining(
  answers: Joinable,
  reserved = NONE,
  form?: LineForm,
): Generator<void, JoinedSnapshot> {
  const snapshots = answers.map(({ snapshot }) => snapshot);
  const metadata = snapshots.map((each) => each.metadata);
  const targets = answers.map(({ labels }) => labelsText(labels));
  const [first = NONE] = metadata;
  const last = lastJoins.get(first);
  const hasPlan =
    last?.reserved === reserved &&
    areSame(last.targets, targets) &&
    areSame(last.metadata, metadata);
  const plan = hasPlan ? last.plan : yield* planning(targets, metadata, reserved);
  const isSame = hasPlan && areSame(last.joined.snapshots, snapshots);
  const joined = isSame ? last.joined : new Joined(plan, snapshots);
  lastJoins.set(first, { plan, targets, metadata, reserved, joined });
  // A page without lines in its form is made from the text.
  if (form !== undefined && (yield* joined.joining(form)) === undefined)
    yield* joined.joining(DEFAULT_FORM);
  return { snapshot: joined, leftOut: plan.leftOut };
}

const areSame = <T>(a: readonly T[], b: readonly T[]): boolean =>
  a.length === b.length && a.every((each, index) => each === b[index]);

/** Compares the families of all targets. @param targets the labels of each target */
function* planning(
  targets: readonly string[],
  metadata: readonly (readonly FamilyMetadata[])[],
  reserved: readonly FamilyMetadata[],
): Generator<void, Plan> {
  const families = new Map<string, JoinedFamily>();
  const owners = new NameOwners();
  for (const family of reserved) owners.add(family);
  const ofDocument = new Set(reserved.map(({ name }) => name));
  const known = new Set<string>();
  const leftOut: string[] = [];
  let compared = 0;
  for (const [target, labels] of targets.entries()) {
    if (known.has(labels)) {
      leftOut.push(
        `all metrics of {${labels}} are left out: an earlier target has the same labels`,
      );
      continue;
    }
    known.add(labels);
    for (const family of metadata[target] ?? []) {
      if (++compared % ITEMS_A_STEP === 0) yield;
      const joined = families.get(family.name);
      // Targets with the same catalogue share the metadata.
      if (joined?.metadata === family) {
        joined.members.push({ target, family });
        continue;
      }
      const refusal = ofDocument.has(family.name)
        ? 'the document itself adds a metric with this name'
        : owners.refusalOf(family);
      if (refusal !== '') {
        leftOut.push(`${family.name}{${labels}} is left out: ${refusal}`);
        continue;
      }
      if (joined === undefined) {
        owners.add(family);
        families.set(family.name, { metadata: family, members: [{ target, family }] });
      } else joined.members.push({ target, family });
    }
  }
  const all = [...families.values()];
  return { families: all, metadata: all.map((each) => each.metadata), leftOut };
}

class Joined implements Snapshot {
  readonly metadata: readonly FamilyMetadata[];
  readonly snapshots: readonly Snapshot[];
  readonly #families: readonly JoinedFamily[];
  readonly #lines = new Map<LineForm, readonly Piece[]>();

  constructor({ families, metadata }: Plan, snapshots: readonly Snapshot[]) {
    this.metadata = metadata;
    this.snapshots = snapshots;
    this.#families = families;
  }

  get violatesOpenMetrics(): boolean {
    return this.snapshots.some((each) => each.violatesOpenMetrics);
  }

  /** Snapshots without lines in a form of text have text in their place, unless all lack these lines. */
  lines(form: LineForm): readonly Piece[] | undefined {
    return runToEnd(this.joining(form));
  }

  hold(): () => void {
    const releases = this.snapshots.map((each) => each.hold());
    return () => {
      for (const release of releases) release();
    };
  }

  /** Makes the result of `lines` in small steps, once. */
  *joining(form: LineForm): Generator<void, readonly Piece[] | undefined> {
    const known = this.#lines.get(form);
    if (known !== undefined) return known;
    const lists = this.snapshots.map((each) => each.lines(form));
    const missing = lists.filter((each) => each === undefined).length;
    if (missing > 0 && (!isText(form) || missing === lists.length)) return undefined;
    const sources: ReadonlyMap<FamilyMetadata, readonly Piece[]>[] = [];
    for (const [target, snapshot] of this.snapshots.entries()) {
      const families = familiesOf(lists[target] ?? textLines(snapshot));
      sources.push(new Map(families.map(({ family, pieces }) => [family, pieces])));
      yield;
    }
    const all: Piece[] = [];
    let collected = 0;
    for (const { members } of this.#families) {
      const small: Piece[] = [];
      for (const { target, family } of members) {
        for (const piece of sources[target]?.get(family) ?? [])
          if (isSmall(piece)) small.push(piece);
          else all.push(...joinedPieces(small.splice(0)), piece);
        if (++collected % ITEMS_A_STEP === 0) yield;
      }
      all.push(...joinedPieces(small));
    }
    this.#lines.set(form, all);
    return all;
  }
}

const isSmall = ({ crc, data }: Piece): boolean => crc === undefined && data.length < SMALL_BYTES;

/** Joins pieces of one family, since a page of many small pieces takes longer. */
function joinedPieces(pieces: readonly Piece[]): readonly Piece[] {
  const [first] = pieces;
  if (first === undefined || pieces.length === 1) return pieces;
  let [lines, bytes] = [0, 0];
  for (const piece of pieces) {
    lines += piece.lines;
    bytes += piece.bytes;
  }
  return [{ ...first, lines, bytes, data: Buffer.concat(pieces.map(({ data }) => data)) }];
}
