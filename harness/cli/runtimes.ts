/** Which runtime a run gets. */
import { provideIp } from '../iproute.js';
import { cacheFolder } from '../redis-binary.js';
import { findOnPath } from '../setup/command.js';
import { namespaceTrouble } from '../setup/namespaces.js';
import { UsageError } from './errors.js';

export const runtimeNames = ['auto', 'netns'] as const;

/** The runtime to use and, in words, why; throws with the remedy where none can be had. */
export async function chooseRuntime(
  asked: string,
  say: (line: string) => void,
): Promise<{ name: 'netns'; why: string }> {
  const trouble = (await whyNoIp(say)) ?? (await whyNoNetns());
  if (trouble) throw new UsageError(`the netns runtime cannot be had: ${trouble}`);
  return {
    name: 'netns',
    why: asked === 'netns' ? 'as asked' : 'a network namespace per host, on this machine',
  };
}

/** `ip` is fetched where it is missing, as Redis is. */
async function whyNoIp(say: (line: string) => void): Promise<string | undefined> {
  try {
    await provideIp(cacheFolder(), say);
    return undefined;
  } catch (error) {
    return `ip is missing and could not be downloaded (${(error as Error).message}); install it (apt-get install iproute2)`;
  }
}

async function whyNoNetns(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `it needs Linux, this is ${process.platform}`;
  for (const tool of ['unshare', 'nsenter']) {
    if (!findOnPath(tool)) return `${tool} is missing; install it (apt-get install util-linux)`;
  }
  const trouble = await namespaceTrouble();
  return trouble && `${trouble.detail}; ${trouble.remedy}`;
}
