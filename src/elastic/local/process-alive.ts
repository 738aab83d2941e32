/** Whether a process id is taken by a living process; used by the cache lock and by the data directory's owner record. */

/** True when a process with this id exists, also when it belongs to someone else. Sends no signal. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
