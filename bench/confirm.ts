/**
 * `npm run bench -- confirm`: how often real servers show what was found in virtual time, by kind of finding: whom it blames, what it
 * breaks, and which faults are left of its schedule when it is shrunk. Locks that are wrong and sound ones are hunted, and every finding's
 * schedule is played on real servers some times, in real time.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { wholeNumberIn } from '../cli/common/values.js';
import { Budget } from '../cli/hunt/budget.js';
import { type Confirmation, confirmationText, confirmOnServers } from '../cli/hunt/confirm.js';
import { hunt, type NewFinding } from '../cli/hunt/hunt.js';
import { configOf, scheduling } from '../cli/hunt/hunt-command.js';
import { keepFinding, scheduleText } from '../cli/hunt/kept-finding.js';
import { lessOf } from '../cli/hunt/shrink-finding.js';
import { WorldProcess } from '../cli/hunt/world-process.js';
import { putLockModule } from '../cli/run/lock-module.js';
import { provideSimulation, type Simulation } from '../cli/run/simulation.js';
import { benchCommand } from './command.js';
import { print } from './print.js';
import { askedFor } from './simulated.js';

/** Flags of `hunt`, each with faults that real time has, too. */
const cases: readonly (readonly string[])[] = [
  ['--lock', 'set-nx-px-get-del', '--faults', 'delay'],
  ['--lock', 'set-nx-px', '--faults', 'pause,kill,partition,reset'],
  ['--lock', 'broken/resent-del', '--faults', 'reset-on-reply'],
  ['--lock', 'broken/shared-owner', '--faults', 'none'],
  ['--lock', 'broken/no-validity-check', '--topology', 'redlock', '--faults', 'delay,pause,partition'],
  ['--lock', 'set-nx-px', '--topology', 'replica', '--faults', 'failover,partition'],
];

interface Flags {
  times: number;
  schedules: number;
  seed: number;
  only?: string;
}

interface Confirmed {
  /** Of what was found: whom it blames, what it breaks, and its faults. */
  kind: string;
  confirmed: Confirmation;
}

/** Prints a line for each finding as it is confirmed, and a table by kind. */
export async function benchConfirm(argv: string[]): Promise<void> {
  const command = benchCommand('confirm')
    .option('--times <n>', 'runs on real servers of each finding', wholeNumberIn(1, 1_000), 5)
    .option('--schedules <n>', 'of each lock that is hunted', wholeNumberIn(1, 100_000), 16)
    .option('--seed <n>', 'of the schedules', wholeNumberIn(0, 1_000_000), 1)
    .option('--only <text>', 'only what has this among its flags');
  command.parse(argv, { from: 'user' });
  const flags = command.opts<Flags>();
  const simulation = await provideSimulation(undefined, print);
  const all: Confirmed[] = [];
  for (const one of cases.filter((flagsOfIt) => flagsOfIt.join(' ').includes(flags.only ?? '')))
    all.push(...(await confirmedOf(one, flags, simulation)));
  print('');
  for (const line of confirmedTable(all)) print(line);
}

async function confirmedOf(
  huntArgv: readonly string[],
  { times, schedules, seed }: Flags,
  { shim, redis }: Simulation,
): Promise<Confirmed[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-bench-confirm-'));
  const asked = askedFor(huntArgv);
  const options = {
    workFolder: folder,
    shim,
    lock: await putLockModule(asked.run.settings.lock, process.cwd(), folder),
  };
  const world = new WorldProcess(options);
  const second = new WorldProcess(options);
  const config = configOf(asked, redis, 'bench', 'npm run bench -- confirm');
  const all: Confirmed[] = [];
  const onFinding = async (finding: NewFinding) => {
    const { fingerprint, shrunk, hold } = finding;
    const place = join(folder, String(all.length + 1));
    const less = { ...lessOf(config, shrunk), ...(hold && { hold }) };
    const whole = { ...config, ...less, runId: `bench-${all.length + 1}`, seed: shrunk.seed };
    await keepFinding(place, whole, finding, { options, world, second });
    const confirmed = await confirmOnServers({ place, config: whole, fingerprint, times });
    all.push({ kind: kindOfFinding(finding), confirmed });
    const [load] = loadavg();
    print(`${huntArgv.join(' ')}: ${fingerprint}: ${confirmationText(confirmed)} (load ${load!.toFixed(0)})`);
    print(`  ${scheduleText(shrunk)}`);
  };
  try {
    await hunt({
      worlds: [world],
      seed,
      config,
      ...scheduling(asked),
      shard: asked.shard,
      runs: schedules,
      budget: Budget.of(undefined, () => performance.now()),
      isStopped: () => false,
      onSchedule() {},
      onFinding,
      onSame() {},
      onEndless() {},
    });
    return all;
  } finally {
    await Promise.all([world.close(), second.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function kindOfFinding({ found, shrunk }: NewFinding): string {
  const faults = [...new Set(shrunk.steps.map(({ fault }) => fault))].sort().join(' + ');
  return `| ${found.blame} | ${found.class} (${found.kind}) | ${faults || 'none'} |`;
}

/** A line for each kind, in Markdown: how many findings, in how many of how many runs they came again. */
export function confirmedTable(all: readonly Confirmed[]): string[] {
  const rows = [...new Set(all.map(({ kind }) => kind))].sort().map((kind) => {
    const theirs = all.filter((one) => one.kind === kind).map(({ confirmed }) => confirmed);
    const played = theirs.flatMap((one) => ('needs' in one ? [] : [one]));
    const sum = (of: 'found' | 'played') => played.reduce((total, one) => total + one[of], 0);
    const unplayed = theirs.length - played.length;
    const runs = played.length === 0 ? 'none played' : `${sum('found')} of ${sum('played')}`;
    return `${kind} ${theirs.length} | ${runs}${unplayed > 0 ? `; ${unplayed} cannot be played here` : ''} |`;
  });
  return ['| blamed | what | faults | findings | runs that showed it |', '| --- | --- | --- | --- | --- |', ...rows];
}
