/** Runs in containers, and what is left of them in the engine. */
import { findEngine } from '../../docker/index.js';
import { inContainers } from './needs-docker.js';
import { historyOf, start, type Torture, until } from './torture.js';

const RUN_LABEL = 'lock-torture.run';

/** Images are pulled and built where they are not there yet. */
export const FIRST_RUN_MS = 600_000;

export async function inFullSwing(flags: readonly string[]): Promise<Torture> {
  const run = start([...inContainers, ...flags, '--nemesis', 'none', '--time-limit', '60s']);
  await until(
    `torture phase; output so far: ${run.output()} ${run.errors()}`,
    () => {
      // What has ended will never get there.
      if (run.child.exitCode !== null) throw new Error(`it ended: ${run.output()} ${run.errors()}`);
      return historyOf(run).some((event) => event.type === 'phase' && event.phase === 'torture');
    },
    FIRST_RUN_MS,
  );
  return run;
}

/** Containers and networks that carry the label of the run that printed this. */
export async function leftOf(output: string): Promise<string[]> {
  const [, runId] = /^run (\S+), seed/m.exec(output) ?? [];
  const { docker } = await findEngine();
  const filters = { label: [`${RUN_LABEL}=${runId}`] };
  const [containers, networks] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listNetworks({ filters }),
  ]);
  return [...containers.map(({ Names }) => `container ${Names[0]}`), ...networks.map(({ Name }) => `network ${Name}`)];
}
