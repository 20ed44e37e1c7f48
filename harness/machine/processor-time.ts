/** What processes have used of the processors, however long others kept them waiting. */
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts the time of processes in these. */
const TICK_MS = 10;

/**
 * Of all processes of a session (setsid), those included that have ended and were waited for in it. Never falls, but for a process
 * that ended and that nobody waited for.
 */
export function processorMsOfSession(session: number): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .reduce((sum, pid) => sum + ticksOf(pid, session) * TICK_MS, 0);
}

function ticksOf(pid: string, session: number): number {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return 0; // it has ended meanwhile
  }
  // After the name, which may have anything in it: state, parent, group, session, ...; the 12th to 15th are its own and its children's time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (Number(fields[3]) !== session) return 0;
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}
