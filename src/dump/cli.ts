#!/usr/bin/env node
// shm_dump: prints the contents of a segment, or shows them on a terminal.
import { EMPTY, asyncScheduler, concat, defer, fromEvent, map, repeat } from 'rxjs';
import type { Observable } from 'rxjs';
import { packageVersion } from '../document/package-version.js';
import { onStdoutFailure } from '../document/text-file.js';
import { FAULTS, Fault, messageOf } from '../errors.js';
import type { Document } from '../model.js';
import { posixMemory } from '../native/os/posix.js';
import { segmentName } from '../native/segment/layout.js';
import { readCommandLine } from '../rules/command-line.js';
import { searchWords } from '../shown/shown-text.js';
import { NotWritten, BrokenPipe, pipeWriter } from '../sinks/stdout/stdout.js';
import { PROGRAM, WATCH_SECONDS } from './options.js';
import type { DumpOptions } from './options.js';
import { documentOf } from './output/dump-document.js';
import { FollowedSegment } from './segment/followed-segment.js';
import { chosenObjects } from './tree/tree-items.js';
import type { Choice } from './tree/tree-items.js';
import { LiveView, moments } from './watch/live-view.js';
import { Screen } from './watch/screen.js';

const { stdin, stdout } = process;

function fail(error: unknown): void {
  // A reader may close the pipe early, as head does.
  if (error instanceof BrokenPipe) process.exit(0);
  process.stderr.write(`shm_dump: ${messageOf(error)}\n`);
  if (error instanceof NotWritten) process.exit(FAULTS.NOT_WRITTEN.exit);
  process.exit(error instanceof Fault ? error.exit : 1);
}

/** Prints a dump once, or periodically. */
function print(segment: FollowedSegment, choice: Choice, options: DumpOptions): void {
  const { json, watch } = options;
  const write = pipeWriter(stdout.fd);
  const dump$ = defer(() => write(documentOf(segment, choice, options, Date.now())));
  const blank: Document = { buffers: [Buffer.from('\n')], release: () => undefined };
  const again$: Observable<unknown> = json
    ? dump$
    : concat(
        dump$,
        defer(() => write(blank)),
      );
  const all$ = watch === undefined ? dump$ : again$.pipe(repeat({ delay: periodOf(watch) }));
  all$.subscribe({ error: fail });
}

/** Shows the tree on a terminal until a key or a signal ends the program. */
function show(segment: FollowedSegment, choice: Choice, { watch }: DumpOptions): void {
  const screen = new Screen((text) => stdout.write(text));
  process.once('exit', () => {
    screen.leave();
    if (stdin.isTTY) stdin.setRawMode(false);
  });
  const view = new LiveView(segment, choice, stdin.isTTY);
  if (stdin.isTTY) stdin.setRawMode(true);
  const typed$ = stdin.isTTY ? fromEvent(stdin, 'data').pipe(map(String)) : EMPTY;
  const resized$ = fromEvent(stdout, 'resize');
  const periodMs = periodOf(watch);
  moments({ periodMs, typed$, resized$, scheduler: asyncScheduler }).subscribe({
    next: (moment) => {
      if (moment !== 'again') view.move(moment);
      // A terminal without a size states none of both.
      const size = { columns: stdout.columns || 80, rows: stdout.rows || 24 };
      screen.draw(view.lines(size, Date.now()), size);
    },
    error: fail,
    complete: () => process.exit(0),
  });
}

const periodOf = (watch: DumpOptions['watch']): number =>
  (typeof watch === 'number' ? watch : WATCH_SECONDS) * 1000;

function main(): void {
  const line = readCommandLine(PROGRAM, process.argv.slice(2), packageVersion());
  if (line.kind === 'text') {
    stdout.write(line.text);
    return;
  }
  const { options } = line;
  const { serverKey, contextId, poolName, object, search, json, watch } = options;
  const name = segmentName(contextId, poolName, serverKey);
  const segment = new FollowedSegment(posixMemory(), name);
  const choice = { object, words: searchWords(search) };
  // Reports an unknown object before the first output.
  chosenObjects(segment.read().reading.source.roots, object);
  if (watch !== undefined)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => process.exit(0));
  if (watch !== undefined && !json && stdout.isTTY) show(segment, choice, options);
  else print(segment, choice, options);
}

onStdoutFailure(stdout, fail, () => process.exit());
try {
  main();
} catch (error) {
  fail(error);
}
