// What the values of a segment become: the interface of a table of names.
import type { StatedMetric, VariableKind } from '../../model.js';
import type { Field } from '../schema.js';

/** A value with the segment and the class that it belongs to. */
export interface Point {
  /** Such as `VBE.boot.origin`. */
  readonly ident: string;
  /** The name of its schema, such as `vbe`. */
  readonly className: string;
  readonly field: Pick<Field, 'name' | 'kind' | 'unit' | 'help'>;
}

export interface NamedPoint {
  readonly metric: StatedMetric;
  readonly kind: VariableKind;
}

/** What the exporter adds to what Varnish publishes. */
export interface OwnPoints {
  readonly up: StatedMetric;
  /** When manager and child began; undefined where these names have none. */
  readonly managerStart: StatedMetric | undefined;
  readonly childStart: StatedMetric | undefined;
  /** Whether the last probe of a backend was good. */
  readonly backendUp: (ident: string) => StatedMetric;
}

/** Pure: a name does not depend on what else there is. */
export interface Naming {
  /** The same for two segments whose metrics would be the same series. */
  readonly keyOf: (ident: string) => string;
  readonly named: (point: Point) => NamedPoint;
  readonly own: OwnPoints;
}
