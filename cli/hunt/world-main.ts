/**
 * Entry of the process in which schedules are played in virtual time, one after the other as the hunt asks for them. Its clocks,
 * timers, network and randomness are replaced before anything else is loaded (`harness/runtimes/sim/globals.ts`), so it imports
 * the rest only then.
 */
import { theWorld } from '../../harness/runtimes/sim/current-world.js';
import { replaceGlobals } from '../../harness/runtimes/sim/globals.js';
import type { ScheduleRequest, STOP_PLAYING, WorldAnswer, WorldTold } from './schedule.js';

// What a lock prints for a reader that is gone is no error of the lock's.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
replaceGlobals();
// A stack that nobody reads costs more than the rest of an error.
Error.stackTraceLimit = 0;
const { answerSchedule, stopPlaying } = await import('./world.js');

const tell = (message: WorldAnswer | WorldTold) => void process.send!(message);
process.on('message', (request: ScheduleRequest | typeof STOP_PLAYING) => {
  if (typeof request === 'string') stopPlaying();
  else void answerSchedule(request, tell).then(tell);
});
process.on('disconnect', () => process.exit(0));
// What a lock throws and nobody catches ends its process, as it would in one of its own.
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (error: unknown) => {
    const { actor } = theWorld();
    actor.crash(error);
  });
