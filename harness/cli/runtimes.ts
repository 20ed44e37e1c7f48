/** Which runtime a run gets. */
import { spawnSync } from 'node:child_process';
import { provideIp } from '../iproute.js';
import { cacheFolder } from '../redis-binary.js';
import { UsageError } from './errors.js';

export const runtimeNames = ['auto', 'netns'] as const;

/** The runtime to use and, in words, why; throws with the remedy where none can be had. */
export async function chooseRuntime(
  asked: string,
  say: (line: string) => void,
): Promise<{ name: 'netns'; why: string }> {
  const trouble = (await whyNoIp(say)) ?? whyNoNetns();
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

/** Tried for real: whether the kernel lets us have namespaces depends on too many settings to guess. */
function whyNoNetns(): string | undefined {
  if (process.platform !== 'linux') return `it needs Linux, this is ${process.platform}`;
  for (const tool of ['unshare', 'nsenter']) {
    const tried = spawnSync(tool, ['--version'], { stdio: 'ignore' });
    if (tried.error) return `${tool} is missing; install it (apt-get install util-linux)`;
  }
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const tried = spawnSync('unshare', [...user, '--net', '--pid', '--fork', '--mount-proc', 'true'], {
    encoding: 'utf8',
  });
  if (tried.status === 0) return undefined;
  return `the kernel does not allow it here (${tried.stderr.trim()}); run as root (sudo), or allow unprivileged user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu)`;
}
