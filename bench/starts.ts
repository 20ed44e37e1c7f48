/** `npm run bench -- starts`: how long the clients of a lock take until the last of them is ready, with the load of the machine. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { wholeNumberIn } from '../cli/common/values.js';
import { benchCommand } from './command.js';
import { realRun } from './real-run.js';

interface Flags {
  lock: string;
  clients: number;
  times: number;
}

/** The first of them builds what is not built. */
const EACH_MS = 15 * 60_000;

export async function benchStarts(argv: string[]): Promise<void> {
  const command = benchCommand('starts')
    .option('--lock <lock>', 'whose clients', 'redisson/rlock')
    .option('--clients <n>', 'how many', wholeNumberIn(1, 64), 6)
    .option('--times <n>', 'so many runs', wholeNumberIn(1, 100), 5);
  command.parse(argv, { from: 'user' });
  const { lock, clients, times } = command.opts<Flags>();
  const flags = ['--lock', lock, '--clients', String(clients), '--nemesis', 'none', '--time-limit', '2s'];
  for (let n = 1; n <= times; n++) {
    const folder = mkdtempSync(join(tmpdir(), 'lock-torture-bench-'));
    const [load] = loadavg();
    try {
      const { trouble } = await realRun(flags, { base: folder, timeoutMs: EACH_MS });
      const told = trouble === undefined ? readyAfter(folder, clients) : `could not run: ${trouble}`;
      process.stdout.write(`${clients} clients of ${lock} ${told} (load ${load!.toFixed(1)} before)\n`);
      if (trouble !== undefined) process.exitCode = 1;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** From the servers being ready to the last handshake. */
function readyAfter(folder: string, clients: number): string {
  const lines = readFileSync(join(folder, 'latest/history.jsonl'), 'utf8').trim().split('\n');
  const events: { type: string; atNs: number }[] = lines.map((line) => JSON.parse(line));
  const beganNs = events.find(({ type }) => type === 'deployment')!.atNs;
  const ups = events.filter(({ type }) => type === 'client-up').slice(0, clients);
  const seconds = (ups.at(-1)!.atNs - beganNs) / 1e9;
  return ups.length < clients ? `did not all start: ${ups.length}` : `were ready after ${seconds.toFixed(2)} s`;
}
