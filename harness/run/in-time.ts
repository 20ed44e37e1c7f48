/** Waits for a client's answer, but not for ever. */
import { durationOfMs } from '../record/facts/words.js';
import type { HostProcess } from '../vocabulary/host.js';
import type { Clock } from '../vocabulary/time.js';
import type { Reply } from './client-process.js';

const STOPPED_POLL_MS = 50;

export interface StoppedWait {
  clock: Clock;
  process: Pick<HostProcess, 'state'>;
  /** Once the scripts are `stopping` all faults are healed, and a process that is stopped then has stopped itself. */
  stopping: AbortSignal | undefined;
}

export interface AnswerWait extends StoppedWait {
  /** What the answer may take, milliseconds; and once more after the process was seen stopped. */
  limitMs: number;
  graceMs: number;
}

/** Time during which the process is stopped does not count. */
export async function inTime(reply: Promise<Reply>, wait: AnswerWait): Promise<Reply> {
  const { clock, limitMs, graceMs } = wait;
  const answered = endOf(reply);
  for (let leftMs = limitMs; ; leftMs = graceMs) {
    await clock.sleep(leftMs, answered);
    if (answered.aborted) return reply;
    if (!(await wasStopped(answered, wait)))
      return { type: 'info', unanswered: true, reason: `no answer within ${durationOfMs(limitMs)}` };
  }
}

/** Resolves to whether the process runs while the answer is still to come: at once, or when it was resumed. */
export async function untilItRuns(reply: Promise<Reply>, wait: StoppedWait): Promise<boolean> {
  const answered = endOf(reply);
  await wasStopped(answered, wait);
  return !answered.aborted;
}

function endOf(reply: Promise<Reply>): AbortSignal {
  const end = new AbortController();
  void reply.then(() => end.abort());
  return end.signal;
}

/** Waits for as long as the process is stopped and has not answered; false where it ran all along and has not answered yet. */
async function wasStopped(answered: AbortSignal, { clock, process, stopping }: StoppedWait): Promise<boolean> {
  const isStopped = async () =>
    stopping !== undefined && !stopping.aborted && (await process.state()) === 'stopped' && !answered.aborted;
  if (!(await isStopped())) return answered.aborted;
  while (await isStopped()) await clock.sleep(STOPPED_POLL_MS, answered);
  return true;
}
