#!/usr/bin/env node
// shm_dump: prints the contents of a segment, or shows them on a terminal.
import '../stdio/process-streams.js';
import { isatty } from 'node:tty';
import { EMPTY, asyncScheduler, concat, defer, fromEvent, map, repeat } from 'rxjs';
import type { Observable } from 'rxjs';
import { packageVersion } from '../document/package-version.js';
import { FAULTS, Fault, messageOf } from '../errors.js';
import type { Document } from '../model.js';
import { posixMemory } from '../native/os/posix.js';
import { segmentName } from '../native/segment/layout.js';
import { readCommandLine } from '../rules/command-line.js';
import { searchWords } from '../shown/shown-text.js';
import { documentWriter } from '../sinks/stdout/stdout.js';
import { BrokenPipe, NotWritten, fail, notWritten, print, statusOf } from '../stdio/print.js';
import { StandardOutputs } from '../stdio/output.js';
import { PROGRAM, WATCH_SECONDS } from './options.js';
import type { DumpOptions } from './options.js';
import { documentOf } from './output/dump-document.js';
import { FollowedSegment } from './segment/followed-segment.js';
import { chosenObjects } from './tree/tree-items.js';
import type { Choice } from './tree/tree-items.js';
import { LiveView, moments } from './watch/live-view.js';
import { Screen } from './watch/screen.js';

const [STDIN, STDOUT] = [0, 1];
/** The time limit for the last output of `--watch`. */
const LAST_MS = 1000;

const lineOf = (error: unknown): string => `shm_dump: ${messageOf(error)}\n`;
const endAt = (error: unknown): never => fail(process, 'shm_dump', error);

/** Prints one dump. */
function dump(segment: FollowedSegment, choice: Choice, options: DumpOptions): void {
  try {
    for (const bytes of documentOf(segment, choice, options, Date.now()).buffers) print(bytes);
  } catch (error) {
    if (!(error instanceof NotWritten)) throw error;
    throw new Fault('NOT_WRITTEN', error.message, { cause: error });
  }
}

/** Prints dumps until a signal ends the program. */
function dumpAgain(segment: FollowedSegment, choice: Choice, options: DumpOptions): void {
  const outputs = new StandardOutputs(process);
  const write = documentWriter(outputs.stdout);
  const blank: Document = { buffers: [Buffer.from('\n')], release: () => undefined };
  const dump$ = defer(() => write(documentOf(segment, choice, options, Date.now())));
  const again$: Observable<unknown> = options.json
    ? dump$
    : concat(
        dump$,
        defer(() => write(blank)),
      );
  endBySignal(() => outputs.end(0, LAST_MS));
  again$.pipe(repeat({ delay: periodOf(options) })).subscribe({
    error: (error: unknown) => {
      if (error instanceof BrokenPipe) process.exit(0);
      outputs.stderr.line(lineOf(error));
      outputs.end(error instanceof NotWritten ? FAULTS.NOT_WRITTEN.exit : statusOf(error), LAST_MS);
    },
  });
}

/** Shows the tree on a terminal until a key or a signal ends the program. */
function show(segment: FollowedSegment, choice: Choice, options: DumpOptions): void {
  const { stdout } = process;
  const outputs = new StandardOutputs(process);
  const screen = new Screen(outputs.stdout, (error) => endAt(notWritten(error)));
  // Do not open stdin if it is a pipe: Node.js would make the pipe non-blocking for other programs too.
  const keyboard = isatty(STDIN) ? process.stdin.setRawMode(true) : undefined;
  const leave = (): void => {
    screen.leave();
    keyboard?.setRawMode(false);
  };
  const end = (): void => {
    leave();
    outputs.end(0, LAST_MS);
  };
  endBySignal(end);
  const view = new LiveView(segment, choice, keyboard !== undefined);
  const typed$ = keyboard === undefined ? EMPTY : fromEvent(keyboard, 'data').pipe(map(String));
  const resized$ = fromEvent(stdout, 'resize');
  moments({ periodMs: periodOf(options), typed$, resized$, scheduler: asyncScheduler })
    .pipe(
      map((moment) => {
        if (moment !== 'again') view.move(moment);
        // Some terminals report no size.
        const size = { columns: stdout.columns || 80, rows: stdout.rows || 24 };
        screen.draw(view.lines(size, Date.now()), size);
      }),
    )
    .subscribe({
      error: (error: unknown) => {
        leave();
        outputs.stderr.line(lineOf(error));
        outputs.end(statusOf(error), LAST_MS);
      },
      complete: end,
    });
}

function endBySignal(end: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
}

const periodOf = ({ watch }: DumpOptions): number =>
  (typeof watch === 'number' ? watch : WATCH_SECONDS) * 1000;

function main(): void {
  const line = readCommandLine(PROGRAM, process.argv.slice(2), packageVersion());
  if (line.kind === 'text') {
    print(line.text);
    return;
  }
  const { options } = line;
  const { serverKey, contextId, poolName, object, search, json, watch } = options;
  const name = segmentName(contextId, poolName, serverKey);
  const segment = new FollowedSegment(posixMemory(), name);
  const choice = { object, words: searchWords(search) };
  // Reports an unknown object before the first output.
  chosenObjects(segment.read().reading.source.roots, object);
  if (watch === undefined) dump(segment, choice, options);
  else if (json || !isatty(STDOUT)) dumpAgain(segment, choice, options);
  else show(segment, choice, options);
}

try {
  main();
} catch (error) {
  endAt(error);
}
