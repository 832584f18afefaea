// Which processors threads may run on: sched(7).
import { FrequentCall, int, long, pointer } from './frequent-call.js';

/** As many processors as the C library knows. */
const MASK_BYTES = 128;
const FAILED = -1;

/** Makes a function that keeps a thread of this process off the processor that this thread is on. */
export function keepApart(): (thread: number) => void {
  let keep: ((thread: number) => void) | undefined;
  return (thread) => {
    keep ??= keepingApart();
    keep(thread);
  };
}

/** Where the C library lacks a function, threads may share a processor. */
function keepingApart(): (thread: number) => void {
  try {
    return withCalls();
  } catch {
    return () => undefined;
  }
}

function withCalls(): (thread: number) => void {
  const allowed = Buffer.alloc(MASK_BYTES);
  const mask = Buffer.alloc(MASK_BYTES);
  const ofThread = int(0);
  const bytes = long(MASK_BYTES);
  const present = new FrequentCall('sched_getcpu', []);
  const ask = new FrequentCall('sched_getaffinity', [
    ['int', int(0)],
    ['long', bytes],
    ['pointer', pointer(allowed)],
  ]);
  const set = new FrequentCall('sched_setaffinity', [
    ['int', ofThread],
    ['long', bytes],
    ['pointer', pointer(mask)],
  ]);
  let [lastThread, lastProcessor] = [0, FAILED];
  return (thread) => {
    const processor = present.call();
    if (processor < 0 || thread === 0) return;
    if (thread === lastThread && processor === lastProcessor) return;
    [lastThread, lastProcessor] = [thread, processor];
    if (ask.call() === FAILED) return;
    allowed.copy(mask);
    const at = processor >>> 3;
    mask[at] = (mask[at] ?? 0) & ~(1 << (processor & 7));
    // Nowhere to go, and no thread runs nowhere.
    if (mask.every((byte) => byte === 0)) return;
    ofThread.writeInt32LE(thread);
    set.call();
  };
}
