/** Waits for a client's answer, but not for ever. */
import type { HostProcess } from '../vocabulary/host.js';
import type { Clock } from '../vocabulary/time.js';
import type { Reply } from './client-process.js';

const STOPPED_POLL_MS = 50;

export interface AnswerWait {
  clock: Clock;
  process: Pick<HostProcess, 'state'>;
  /** What the answer may take, milliseconds; and once more after the process was seen stopped. */
  limitMs: number;
  graceMs: number;
  /** Once the scripts are `stopping` all faults are healed, and a process that is stopped then has stopped itself. */
  stopping: AbortSignal | undefined;
}

/** Time during which the process is stopped does not count. */
export async function inTime(reply: Promise<Reply>, wait: AnswerWait): Promise<Reply> {
  const { clock, process, limitMs, graceMs, stopping } = wait;
  let answered = false;
  const done = new AbortController();
  void reply.then(() => {
    answered = true;
    done.abort();
  });
  for (let leftMs = limitMs; ; leftMs = graceMs) {
    await clock.sleep(leftMs, done.signal);
    if (answered) return reply;
    const mayBeStopped = () => stopping !== undefined && !stopping.aborted;
    if (!mayBeStopped() || (await process.state()) !== 'stopped')
      return { type: 'info', unanswered: true, reason: `no answer within ${limitMs} ms` };
    while (!answered && mayBeStopped() && (await process.state()) === 'stopped')
      await clock.sleep(STOPPED_POLL_MS, done.signal);
  }
}
