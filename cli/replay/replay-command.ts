/**
 * `replay`: runs again what a run did, with its seed, plan and options, against the lock as its file is now, and counts
 * how many replays find what the original had found.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findRun } from '../../harness/record/store.js';
import { topologies } from '../../harness/topologies/index.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { commandLine } from '../common/reproduce.js';
import { announcedIsOver, saying } from '../common/say.js';
import { isFinding } from '../hunt/finding.js';
import { replayFinding } from '../hunt/replay-finding.js';
import type { Where } from '../judge/judge-commands.js';
import { BUNDLE } from '../run/bundle.js';
import { checkPair, lackingOf, planTopology } from '../run/deployment.js';
import { askSeries, type ReplayFlags } from '../run/flags.js';
import { placeOfLock } from '../run/lock-source.js';
import { type AskedMachine, type Machine, namedServer } from '../run/machine.js';
import { askMachine } from '../run/machine-flags.js';
import { readPlanFile } from '../run/plan-file.js';
import { createPreparer, type PreparedRun, type RunRequest, requestOf, SIM_BUNDLE } from '../run/prepare-run.js';
import { probeMachine } from '../run/probe-machine.js';
import { type AskedSeries, runSeries, timesOf } from '../run/series.js';
import { type OriginalRun, readOriginal } from './original.js';

/** Resolves with the exit status. Rejects with an error for the user when nothing could be replayed. */
export async function replayCommand(run: string, flags: ReplayFlags, where: Where): Promise<number> {
  const named = findRun(run, where.base, where.cwd);
  if (isFinding(named)) return replayFinding(named, flags, where.cwd);
  const say = saying(flags);
  say('judging the run to replay…');
  const original = await readOriginal(named);
  announcedIsOver();
  const { config, folder } = original;
  const kind = topologies[config.topology]!;
  checkPair(config.lock, kind);

  const machine = await probeMachine(
    {
      ...machineFor(
        config,
        askMachine({ ...flags, runtime: config.toolImage ? 'container' : config.runtime }, where.cwd),
      ),
      service: kind.service,
    },
    say,
  );
  const planFile = join(folder, 'plan.json');
  const deployment = planTopology(kind, config.topologyOptions, config.clients);
  const lacking = lackingOf(kind, config.topologyOptions, machine.unavailable);
  const plan = readPlanFile(planFile, planFile, deployment, lacking);
  const series = askSeries(flags, where.cwd);
  say(introduction(original, series));
  const redis = redisNote(config, machine);
  if (redis) say(redis);

  const prepare = createPreparer(machine, series.base, say);
  const reproduce = commandToReplay(original, flags, where);
  return runSeries({
    ...series,
    original: original.findings,
    prepare: async (n) => {
      const prepared = await prepare(replayOf(config, reproduce, where.cwd), plan);
      const changed = n === 0 && lockChanged(original, prepared);
      if (changed) say(`note: ${config.lock} has changed since the original ran; the lock is taken as it is now`);
      return prepared;
    },
  });
}

/**
 * What the original was to do, all of it; only its password is drawn anew. Where its lock's file lay on another machine, or in
 * another folder than now, it is the one of the same path from where the user stands.
 */
function replayOf(config: RunConfig, reproduce: string, standing: string): RunRequest {
  const { password, ...options } = config.topologyOptions;
  return {
    ...requestOf(config),
    topologyOptions: { ...options, ...(password !== undefined && { password: randomBytes(16).toString('hex') }) },
    cwd: placeOfLock(config.lock, [config.cwd, standing]) ?? config.cwd,
    replayOf: config.runId,
    reproduce,
  };
}

/**
 * What the original ran on, where the user names nothing else. Images are part of what ran, and so is a Redis that the user
 * chose; a Redis that was found is whatever this machine has.
 */
function machineFor({ redis, containers, toolImage }: RunConfig, asked: AskedMachine): AskedMachine {
  return {
    runtime: asked.runtime,
    server: asked.server ?? namedServer(redis),
    image: asked.image ?? containers?.image,
    clientImage: asked.clientImage ?? containers?.clientImage ?? toolImage?.base,
  };
}

function redisNote(config: RunConfig, machine: Machine): string | undefined {
  const [then, now] = [config.redis.version, machine.redis.version];
  return then === now ? undefined : `note: this is version ${now} of the server; the original ran on ${then}`;
}

function introduction({ findings }: OriginalRun, series: AskedSeries): string {
  const times = timesOf(series);
  const found = findings.findings.map((one) => `${one.class} × ${one.times} [${one.cause}]`).join(', ');
  const often = times === undefined ? 'until it is found again' : times === 1 ? 'once' : `${times} times`;
  return `replaying ${findings.runId} ${often}; it was ${findings.verdict}${found === '' ? '' : `: ${found}`}`;
}

function lockChanged({ folder }: OriginalRun, prepared: PreparedRun): boolean {
  return [BUNDLE, SIM_BUNDLE].some((bundle) => {
    const [then, now] = [join(folder, bundle), join(prepared.folder, bundle)];
    return existsSync(then) && existsSync(now) && codeIn(then) !== codeIn(now);
  });
}

/** Without what says where its sources are, seen from the folder that it lies in. */
function codeIn(bundle: string): string {
  return readFileSync(bundle, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
}

/** One more replay of the original. By its id where that is enough: what `latest` means has changed by then. */
function commandToReplay({ folder, config }: OriginalRun, flags: ReplayFlags, where: Where): string {
  const named = dirname(folder) === where.base ? config.runId : folder;
  const server = flags.server ?? flags.redis;
  return commandLine([
    'replay',
    named,
    ...(server === undefined ? [] : ['--server', server]),
    ...(flags.image === undefined ? [] : ['--image', flags.image]),
    ...(flags.clientImage === undefined ? [] : ['--client-image', flags.clientImage]),
    ...(flags.out === where.base ? [] : ['--out', flags.out]),
    ...(flags.json ? ['--json'] : []),
  ]);
}
