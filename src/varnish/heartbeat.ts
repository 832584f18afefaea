// The beat of a manager: its uptime, which it counts up each second.
import type { SegmentDirectory } from './segment-directory.js';
import { SegmentValues } from './segment-values.js';

const IDENT = 'MGT';
const UPTIME = 'uptime';

/** The seconds that a manager has counted; undefined where it has not made its counters yet. */
export function uptimeOf(directory: SegmentDirectory): bigint | undefined {
  try {
    for (const entry of directory.index.entries) {
      if (entry.className !== 'Stat' || entry.ident !== IDENT) continue;
      const header = directory.headerAt(entry);
      const schema = header && directory.schema(header.schemaId);
      const field = schema?.fields.find(({ name }) => name === UPTIME);
      if (header === undefined || schema === undefined || field === undefined) continue;
      const values = new SegmentValues(directory, entry, header, schema);
      if (values.copy()) return values.valueOf(field);
    }
  } catch {
    // What cannot be read beats no more than what is not there.
  }
  return undefined;
}
