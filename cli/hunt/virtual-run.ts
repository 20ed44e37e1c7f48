/** A run that is played in virtual time: in a world of its own, which is told like any other run and leaves the same record. */
import { join } from 'node:path';
import { temporaryFolder } from '../../harness/machine/private-folder.js';
import { BoundedLog } from '../../harness/runtimes/bounded-log.js';
import type { Plan } from '../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { watchForFindings } from '../judge/early-end.js';
import { complain, type Inside, writeLine } from '../run/inside.js';
import { SIM_BUNDLE } from '../run/prepare-run.js';
import type { WorldTold } from './schedule.js';
import { EndlessScheduleError, WorldProcess } from './world-process.js';

/** Leaves the history in `folder`. Rejects with an error for the user where the run could not be made. */
export async function playInVirtualTime(
  config: RunConfig,
  plan: Plan,
  folder: string,
  { json, live, interrupt, channel }: Inside,
): Promise<void> {
  const say = (line: string) => writeLine(json ? JSON.stringify({ type: 'progress', line }) : line);
  await using early = config.stopAtFirst ? watchForFindings(folder, say) : undefined;
  using scratch = temporaryFolder();
  using log = new BoundedLog(join(folder, 'logs', 'clients.log'));
  const world = new WorldProcess({
    workFolder: scratch.path,
    shim: config.simShim!,
    lock: join(folder, SIM_BUNDLE),
    printed: (line) => log.write(Buffer.from(`${line}\n`)),
  });
  const tell = (told: WorldTold) => {
    if (told.type === 'line') writeLine(told.line);
    if (told.type === 'snapshot' && channel.writableLength === 0) channel.write(told.line);
  };
  const ends = early ? AbortSignal.any([interrupt, early.signal]) : interrupt;
  try {
    await world.play(config, plan, { keep: folder, asRun: { json, live, tell, interrupt: ends } });
  } catch (error) {
    if (!(error instanceof EndlessScheduleError)) throw error;
    // What was recorded until then is judged, as of a run that was killed.
    complain(error.message);
  } finally {
    await world.close();
  }
}
