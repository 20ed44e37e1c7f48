/** What a campaign runs on, which it goes on with. */
import { askServer, type MachineFlags } from '../run/machine-flags.js';

/** As typed, with a server's path made absolute. Absent: nothing was asked for. */
export interface CampaignMachine {
  runtime?: string;
  server?: string;
  image?: string;
  clientImage?: string;
}

/** What the flags ask for. */
export function machineOf({ runtime, image, clientImage, ...flags }: MachineFlags, cwd: string): CampaignMachine {
  const server = askServer(flags, cwd);
  return {
    ...(runtime !== 'auto' && { runtime }),
    ...(server !== undefined && { server }),
    ...(image !== undefined && { image }),
    ...(clientImage !== undefined && { clientImage }),
  };
}

/** Flags of a campaign that goes on: on the machine that it began on, but for what is said now. */
export function onItsMachine<Flags extends MachineFlags>(
  flags: Flags,
  { server, ...machine }: CampaignMachine,
  isSaid: (flag: string) => boolean,
): Flags {
  const asked = { ...flags };
  for (const flag of ['runtime', 'image', 'clientImage'] as const)
    if (!isSaid(flag) && machine[flag] !== undefined) asked[flag] = machine[flag];
  if (!isSaid('server') && !isSaid('redis') && server !== undefined) {
    delete asked.redis;
    asked.server = server;
  }
  return asked;
}
