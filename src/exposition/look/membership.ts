// Why a target does not track an object or variable that is below its root.
import type { Filters } from '../../catalogue/match/filters.js';
import { placeUnder } from '../../catalogue/match/rules.js';
import type { WideMap } from '../../collections/wide-map.js';
import type { ManagedObject, Variable } from '../../model.js';
import type { Probe } from '../read/probe.js';
import { limitText } from '../target-limits.js';
import type { TargetRoom } from '../target-limits.js';

export interface MembershipParts {
  readonly root: ManagedObject;
  readonly filters: Pick<Filters, 'leftOutBy'>;
  /** Tracked objects, by id. */
  readonly tracked: Pick<WideMap<ManagedObject>, 'has'>;
  readonly probe: Probe;
  readonly room: TargetRoom;
  /** Whether all that was seen of the tree is taken in. */
  readonly isBound: () => boolean;
}

export class Membership {
  readonly #parts: MembershipParts;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  /** Why it is not tracked; empty if it is. */
  whyNotObject(object: ManagedObject): string {
    const { root, filters, tracked } = this.#parts;
    if (tracked.has(object.id)) return '';
    const filter = filters.leftOutBy(placeUnder(root, object));
    if (filter !== undefined) return `not read: ${filter} leaves it out`;
    return this.#late('objects');
  }

  whyNotVariable(variable: Variable): string {
    if (this.#parts.probe.isTracked(variable)) return '';
    const ofObject = this.whyNotObject(variable.object);
    if (ofObject !== '') return ofObject;
    return this.#late('variables');
  }

  #late(kind: 'objects' | 'variables'): string {
    const { room, isBound } = this.#parts;
    // What left it out may have room again.
    const limit = room.reached(kind) ?? kind;
    return isBound() ? `left out: ${limitText(room.limits, limit)}` : 'not taken in yet';
  }
}
