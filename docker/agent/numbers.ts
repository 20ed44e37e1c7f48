/**
 * What number a process of the container gets: those of the hosts are to be alike, as they are in containers whose program is
 * started by an image of its own. The agent's own threads and commands take numbers too, how many depends on the moment.
 *
 * The kernel gives numbers in turn, so they are used up to the next round one. A process that is started again gets the next
 * after that: nothing without a further power (CAP_CHECKPOINT_RESTORE) makes the kernel give one twice.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** More than an agent takes for itself before the first. */
const STEP = 100;
/** A shell uses up as many numbers as it is asked for, one at a time. */
const USE_UP = 'n=$1; while [ "$n" -gt 0 ]; do (exit 0); n=$((n - 1)); done';

/** After it, the next process to be started in this container gets a number that divides by `STEP`, unless something comes between. */
export function leadUpToRoundNumber(): void {
  const last = lastNumber();
  const next = Math.ceil((last + 2) / STEP) * STEP;
  // The shell itself takes one.
  spawnSync('sh', ['-c', USE_UP, 'sh', String(next - last - 2)], { stdio: 'ignore' });
}

/** The number that was given last in this process namespace. */
function lastNumber(): number {
  return Number(readFileSync('/proc/loadavg', 'utf8').trim().split(' ').at(-1));
}
