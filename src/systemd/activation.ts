// Sockets that systemd opened for the process (sd_listen_fds(3)).

/** The first descriptor that is handed over. */
const FIRST = 3;

/** The descriptors; none if they were meant for another process, such as the one that started this. */
export function activatedSockets(
  env: Readonly<Record<string, string | undefined>>,
  pid: number,
): readonly number[] {
  const { LISTEN_PID: forPid, LISTEN_FDS: count = '' } = env;
  if (forPid !== String(pid) || !/^\d{1,3}$/.test(count)) return [];
  return Array.from({ length: Number(count) }, (_, index) => FIRST + index);
}
