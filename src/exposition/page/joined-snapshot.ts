// Joins the snapshots of several targets into one, for documents that have the metrics of all targets.
import { NameOwners } from '../../catalogue/names.js';
import type { FamilyMetadata, LabelledAnswer, LineForm, Piece, Snapshot } from '../../model.js';
import { memoize } from '../memoize.js';
import { labelsText } from '../text/text-syntax.js';
import { textLines } from './text-page.js';

export interface JoinedSnapshot {
  readonly snapshot: Snapshot;
  /** A sentence for each metric that is left out, with the reason. */
  readonly leftOut: readonly string[];
}

/** A target's family under the name that the joined snapshot has it. */
interface Member {
  readonly snapshot: Snapshot;
  readonly family: FamilyMetadata;
}

/**
 * Joins snapshots. Each family has one header, from the first target that has it, above the lines of all targets.
 * Leaves out a family that has another type than the same family of an earlier target, or a name that is also the
 * name of another family's series. Leaves out a target that has the same labels as an earlier target, since its
 * series could not be told apart.
 * @param reserved the families that the document adds itself
 */
export function joinSnapshots(
  answers: Joinable,
  reserved: readonly FamilyMetadata[] = [],
): JoinedSnapshot {
  const [first] = answers;
  const known = first && lastJoin.get(first.snapshot);
  if (known?.answers.length === answers.length && answers.every(isSame(known.answers)))
    return known.joined;
  const joined = join(answers, reserved);
  if (first !== undefined) lastJoin.set(first.snapshot, { answers, joined });
  return joined;
}

type Joinable = readonly Pick<LabelledAnswer, 'snapshot' | 'labels'>[];

/** The last result for each first snapshot. While no target has changed, all pages share it, and compress it once. */
const lastJoin = new WeakMap<
  Snapshot,
  { readonly answers: Joinable; readonly joined: JoinedSnapshot }
>();

const isSame =
  (known: Joinable) =>
  ({ snapshot, labels }: Joinable[number], index: number): boolean =>
    known[index]?.snapshot === snapshot && labelsText(known[index].labels) === labelsText(labels);

function join(answers: Joinable, reserved: readonly FamilyMetadata[]): JoinedSnapshot {
  const families = new Map<string, { readonly metadata: FamilyMetadata; members: Member[] }>();
  const owners = new NameOwners();
  for (const family of reserved) owners.add(family);
  const ofDocument = new Set(reserved.map(({ name }) => name));
  const targets = new Set<string>();
  const leftOut: string[] = [];
  for (const { labels, snapshot } of answers) {
    const target = labelsText(labels);
    if (targets.has(target)) {
      leftOut.push(
        `all metrics of {${target}} are left out: an earlier target has the same labels`,
      );
      continue;
    }
    targets.add(target);
    for (const family of snapshot.metadata) {
      const refusal = ofDocument.has(family.name)
        ? 'the document itself adds a metric with this name'
        : owners.refusalOf(family);
      if (refusal !== '') {
        leftOut.push(`${family.name}{${target}} is left out: ${refusal}`);
        continue;
      }
      owners.add(family);
      const joined = families.get(family.name) ?? { metadata: family, members: [] };
      joined.members.push({ snapshot, family });
      families.set(family.name, joined);
    }
  }
  const snapshots = answers.map(({ snapshot }) => snapshot);
  return { snapshot: new Joined([...families.values()], snapshots), leftOut };
}

/** The pieces of a snapshot by family. */
const byFamily = memoize((pieces: readonly Piece[]) => {
  const families = new Map<FamilyMetadata, Piece[]>();
  for (const piece of pieces) {
    const known = families.get(piece.family);
    if (known === undefined) families.set(piece.family, [piece]);
    else known.push(piece);
  }
  return families;
});

class Joined implements Snapshot {
  readonly metadata: readonly FamilyMetadata[];
  readonly #families: readonly { readonly metadata: FamilyMetadata; readonly members: Member[] }[];
  readonly #snapshots: readonly Snapshot[];
  readonly #lines = new Map<LineForm, readonly Piece[] | undefined>();

  constructor(
    families: readonly { readonly metadata: FamilyMetadata; readonly members: Member[] }[],
    snapshots: readonly Snapshot[],
  ) {
    this.metadata = families.map(({ metadata }) => metadata);
    this.#families = families;
    this.#snapshots = snapshots;
  }

  get violatesOpenMetrics(): boolean {
    return this.#snapshots.some((each) => each.violatesOpenMetrics);
  }

  /** With the form `deflated`, the pieces of snapshots that have no deflated lines are text. */
  lines(form: LineForm): readonly Piece[] | undefined {
    const has = (snapshot: Snapshot): boolean => snapshot.lines(form) !== undefined;
    if (form === 'deflated' && !this.#snapshots.some(has)) return undefined;
    if (form !== 'deflated' && !this.#snapshots.every(has)) return undefined;
    const known = this.#lines.get(form) ?? this.#join(form);
    this.#lines.set(form, known);
    return known;
  }

  hold(): () => void {
    const releases = this.#snapshots.map((each) => each.hold());
    return () => {
      for (const release of releases) release();
    };
  }

  #join(form: LineForm): readonly Piece[] {
    return this.#families.flatMap(({ members }) =>
      members.flatMap(
        ({ snapshot, family }) =>
          byFamily(snapshot.lines(form) ?? textLines(snapshot)).get(family) ?? [],
      ),
    );
  }
}
