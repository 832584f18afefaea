// The addresses that a process listens on, from /proc.
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

const LISTENING = '0A';

/** Returns the inode of a descriptor's socket; undefined if it is no socket or has just been closed. */
function socketInode(path: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1];
  } catch {
    return undefined;
  }
}

/** Returns the IPv4 addresses and ports that a process listens on, such as `127.0.0.1:9464`. */
export function listening(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const own = new Set(readdirSync(folder).map((fd) => socketInode(`${folder}/${fd}`)));
  const [, ...lines] = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state !== LISTENING || !own.has(inode)) return [];
    const [address = '', port = ''] = local.split(':');
    const bytes = [...Buffer.from(address, 'hex')].reverse(); // In the machine's byte order.
    return [`${bytes.join('.')}:${Number.parseInt(port, 16)}`];
  });
}
