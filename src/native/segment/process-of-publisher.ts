// The process that publishes a segment. The PID in the segment is that of its own PID namespace.
import { deviceText } from '../../foreign/checked-file.js';
import {
  hasMapped,
  hidingOption,
  innermostPidOf,
  startTicksOf,
  startedUnixMs,
  textOf,
} from '../../foreign/processes.js';
import type { PublisherProcess } from '../../model.js';
import type { SegmentFile } from '../os/shared-memory.js';
import type { SegmentHeader } from './segment-header.js';

/** Tolerance for adjustments of the clock since the segment was made. */
const MAX_EARLY_MS = 10_000;

/** The process as its segment describes it and, while it runs, whether it belongs to another PID namespace. */
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
  const inside = innermostPidOf(textOf(`${proc}/${pid}/status`)) ?? String(pid);
  if (inside !== String(pid)) return true;
  const [, device, inode] = /^(\d+):(\d+)$/.exec(identity) ?? [];
  if (device === undefined || inode === undefined) return false;
  const file = { device: deviceText(BigInt(device)), inode: BigInt(inode) };
  const isMapped = hasMapped(`${proc}/${pid}`, file);
  if (isMapped !== 'perhaps') return isMapped === 'no';
  return startedUnixMs(startTicks, proc) > madeUnixMs + MAX_EARLY_MS;
}
