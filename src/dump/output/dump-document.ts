// Makes the document of a dump in the chosen form.
import { treeCatalogue } from '../catalogue/catalogue-draft.js';
import type { Document } from '../../model.js';
import type { DumpOptions } from '../options.js';
import type { FollowedSegment } from '../segment/followed-segment.js';
import type { Choice } from '../tree/tree-items.js';
import { treeJson } from './tree-json.js';
import { buffers, treeText } from './tree-text.js';

/** Returns a dump as a document. Copies the values of the tree while the caller iterates over the buffers. */
export function documentOf(
  segment: FollowedSegment,
  choice: Choice,
  options: DumpOptions,
  unixMs: number,
): Document {
  const { status, reading } = segment.read();
  const form = options.catalogue ? treeCatalogue : options.json ? treeJson : treeText;
  const onNext = () => {
    reading.renew();
  };
  return {
    buffers: buffers(form(status, reading, choice, unixMs), onNext),
    release: () => undefined,
  };
}
