// The process that publishes a segment: its number is that of its own PID namespace.
import { deviceText } from '../../foreign/checked-file.js';
import {
  hasMapped,
  hidingOption,
  insideNumberOf,
  startTicksOf,
  startedUnixMs,
  textOf,
} from '../../foreign/processes.js';
import type { PublisherProcess } from '../../model.js';
import type { SegmentFile } from '../os/shared-memory.js';
import type { SegmentHeader } from './segment-header.js';

/** The clock may have been set by a little since the segment was made. */
const MAX_EARLY_MS = 10_000;

/** The process, as its segment says, and whether it has that number here; asked while it runs. */
export function processOf(
  { pid, startedRealtimeNs }: Pick<SegmentHeader, 'pid' | 'startedRealtimeNs'>,
  { identity }: Pick<SegmentFile, 'identity'>,
  isRunning: boolean,
  proc = '/proc',
): PublisherProcess {
  const process = { pid: Number(pid), startedUnixMs: Number(startedRealtimeNs / 1_000_000n) };
  return isRunning && isElsewhere(process, identity, proc)
    ? { ...process, isElsewhere: true }
    : process;
}

function isElsewhere(
  { pid, startedUnixMs: madeUnixMs }: PublisherProcess,
  identity: string,
  proc: string,
): boolean {
  const startTicks = startTicksOf(pid, proc);
  if (startTicks === undefined) return hidingOption(proc) === undefined;
  const inside = insideNumberOf(textOf(`${proc}/${pid}/status`)) ?? String(pid);
  if (inside !== String(pid)) return true;
  const [, device, inode] = /^(\d+):(\d+)$/.exec(identity) ?? [];
  if (device === undefined || inode === undefined) return false;
  const file = { device: deviceText(BigInt(device)), inode: BigInt(inode) };
  const isMapped = hasMapped(`${proc}/${pid}`, file);
  if (isMapped !== 'perhaps') return isMapped === 'no';
  return startedUnixMs(startTicks, proc) > madeUnixMs + MAX_EARLY_MS;
}
