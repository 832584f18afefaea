#!/usr/bin/env node
// shm_dump: arguments in, what a segment holds out.
import { packageVersion } from '../document/package-version.js';
import { Fault, messageOf } from '../errors.js';
import { posixMemory } from '../native/os/posix.js';
import { segmentName } from '../native/segment/layout.js';
import { readCommandLine } from '../rules/command-line.js';
import { searchWords } from '../shown/search-words.js';
import { pipeWriter } from '../sinks/stdout/pipe-writer.js';
import { ReaderGone } from '../sinks/stdout/stdout.js';
import { PROGRAM } from './options.js';
import type { Options } from './options.js';
import { pieces } from './output/pieces.js';
import { treeJson } from './output/tree-json.js';
import { treeText } from './output/tree-text.js';
import { SeenSegment } from './segment/seen-segment.js';
import { TreeReading } from './tree/tree-reading.js';

function fail(error: unknown): void {
  // The reader has all it wants.
  if (error instanceof ReaderGone) return;
  process.exitCode = error instanceof Fault ? error.exit : 1;
  process.stderr.write(`shm_dump: ${messageOf(error)}\n`);
}

function dump({ serverKey, contextId, poolName, object, search, json }: Options): void {
  const segment = new SeenSegment(posixMemory(), segmentName(contextId, poolName, serverKey));
  const reading = new TreeReading(segment.tree());
  const choice = { object, words: searchWords(search) };
  const lines = (json ? treeJson : treeText)(segment.facts(), reading, choice, Date.now());
  const document = {
    pieces: pieces(lines, () => {
      reading.renew();
    }),
    release: () => {
      segment.close();
    },
  };
  pipeWriter(process.stdout.fd)(document).subscribe({ error: fail });
}

function main(): void {
  const line = readCommandLine(PROGRAM, process.argv.slice(2), packageVersion());
  if (line.kind === 'text') process.stdout.write(line.text);
  else dump(line.options);
}

try {
  main();
} catch (error) {
  fail(error);
}
