// A document in text 0.0.4 with the metrics of several targets, for programs that read one exposition per host, such as
// textfile collectors.
import type { Document } from '../../model.js';
import type { JoinedSnapshot } from './joined-snapshot.js';
import { TEXT } from './text-page.js';

/**
 * The text of joined snapshots. It begins with a comment for each metric that is left out.
 * @param ownText the metrics about the exporter itself, with which the document ends
 */
export function mergedDocument({ snapshot, leftOut }: JoinedSnapshot, ownText: string): Document {
  const { buffers, release } = TEXT.page({ snapshot, internal: [] });
  const comments = leftOut.map((sentence) => `# ${sentence}\n`).join('');
  return { buffers: [Buffer.from(comments), ...buffers, Buffer.from(ownText)], release };
}
