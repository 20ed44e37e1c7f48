/** The protected resource as the harness sees it: a program on a host of its own, which no fault strikes. */
import { fileURLToPath } from 'node:url';
import type { Host, HostProcess } from '../vocabulary/host.js';
import type { Clock } from '../vocabulary/time.js';
import type { Endpoint } from '../vocabulary/topology.js';
import type { ResourceMode } from '../vocabulary/workload.js';

/** Its argument after that of Node. */
export const RESOURCE_SERVER = fileURLToPath(new URL('./main.js', import.meta.url));
const PORT = 7000;
const READY_TIMEOUT_MS = 10_000;

/** The name of its host. */
export const RESOURCE = 'resource';

/** Starts it on `host`; resolves when it listens, rejects if it does not in time. Ends with its host. */
export async function startResource(host: Host, mode: ResourceMode, clock: Clock): Promise<Endpoint> {
  const process = host.spawn([globalThis.process.execPath, RESOURCE_SERVER, host.address, String(PORT), mode]);
  if (!(await said(process, 'ready', clock)))
    throw new Error(`the protected resource did not start; its last words are in logs/${host.name}.log`);
  return { name: host.name, host: host.address, port: PORT };
}

async function said(process: HostProcess, word: string, clock: Clock): Promise<boolean> {
  const heard = new AbortController();
  let text = '';
  process.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
    if (text.includes(word)) heard.abort();
  });
  void process.exited.then(() => heard.abort());
  await clock.sleep(READY_TIMEOUT_MS, heard.signal);
  return text.includes(word);
}
