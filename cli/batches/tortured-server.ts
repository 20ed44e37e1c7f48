/** What a run was made on. */
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { topologies } from '../../harness/topologies/index.js';
import { services } from '../../harness/topologies/services.js';

/** Enough for what a history begins with. */
const BEGINNING_BYTES = 1 << 20;

/** As the servers of a run told it, "etcd 3.4.23"; undefined: they had not when it ended. Throws where the folder has no history. */
export function torturedServer(runFolder: string): string | undefined {
  const buffer = Buffer.alloc(BEGINNING_BYTES);
  const file = openSync(join(runFolder, 'history.jsonl'), 'r');
  const length = readSync(file, buffer);
  closeSync(file);
  const lines = buffer.toString('utf8', 0, length).split('\n');
  const deployment = lines.find((line) => line.includes('"type":"deployment"'));
  if (deployment === undefined) return undefined;
  const { topology, serverVersion } = JSON.parse(deployment) as { topology: string; serverVersion: string };
  return `${services[topologies[topology]!.service].title} ${serverVersion}`;
}
