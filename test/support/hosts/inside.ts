/** Inside namespaces of its own: which properties hold of the hosts of the `netns` runtime; one JSON object a line. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { netnsRuntime } from '../../../harness/runtimes/netns.js';
import { monotonicNs, realClock } from '../../../harness/runtimes/real-clock.js';
import { properties } from './properties.js';

const { folder, ...shims } = JSON.parse(readFileSync(0, 'utf8')) as Record<
  'folder' | 'clockShim' | 'durableShim',
  string
>;
const clock = realClock(monotonicNs());
await using runtime = await netnsRuntime({ folder, clock, ...shims, unavailable: {} });
const hosts = await runtime.createHosts(['r1', 'c1']);
const logOf = ({ name }: { name: string }) => readFileSync(join(folder, 'logs', `${name}.log`), 'utf8');
for (const [property, holds] of Object.entries(properties)) {
  const problem = await holds({ runtime, hosts, node: process.execPath, logOf }).then(
    () => undefined,
    (error: Error) => error.stack ?? error.message,
  );
  process.stdout.write(`${JSON.stringify({ property, problem })}\n`);
}
