/**
 * `npm run bench -- ready`: how fast a deployment is ready, and what recording costs. Prints ratios measured in one run:
 * absolute numbers of a noisy machine mean little.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { enterNamespaces } from '../cli/run/enter-namespaces.js';
import { cacheFolder, findRedis } from '../harness/machine/redis-binary.js';
import { writeWhole } from '../harness/record/store.js';
import { benchCommand } from './command.js';

export async function benchReady(argv: string[]): Promise<void> {
  benchCommand('ready').parse(argv, { from: 'user' });
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-bench-'));
  try {
    const redis = await findRedis({ cacheFolder: cacheFolder(), say: (line) => process.stderr.write(`${line}\n`) });
    writeWhole(join(folder, 'redis.json'), JSON.stringify(redis));
    const inside = fileURLToPath(new URL('./inside.js', import.meta.url));
    const inner = await enterNamespaces([process.execPath, inside, folder]);
    const end = await inner.ended;
    process.exitCode = 'code' in end ? end.code : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
