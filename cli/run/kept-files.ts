/** What stays of a run when it has ended. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of a client's host, in which its program may have left something for its author. */
const OF_CLIENT = /^c\d+$/;

/**
 * Removes what servers have stored: hundreds of megabytes of some services, and nothing that a report needs. Only for a run all of whose
 * processes have ended. What cannot be removed stays.
 */
export function dropServersFolders(folder: string): void {
  const hosts = join(folder, 'hosts');
  try {
    for (const name of readdirSync(hosts))
      if (!OF_CLIENT.test(name)) rmSync(join(hosts, name), { recursive: true, force: true });
  } catch {
    // Containers keep their folders to themselves, and a disk may be gone: a verdict counts all the same.
  }
}
