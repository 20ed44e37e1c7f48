/** Which runtime a run gets. */
import { spawnSync } from 'node:child_process';
import { UsageError } from './errors.js';

export const runtimeNames = ['auto', 'netns'] as const;

/** The runtime to use and, in words, why; throws with the remedy where none can be had. */
export async function chooseRuntime(asked: string): Promise<{ name: 'netns'; why: string }> {
  const trouble = whyNoNetns();
  if (trouble) throw new UsageError(`the netns runtime cannot be had: ${trouble}`);
  return {
    name: 'netns',
    why: asked === 'netns' ? 'as asked' : 'a network namespace per host, on this machine',
  };
}

/** Tried for real: whether the kernel lets us have namespaces depends on too many settings to guess. */
function whyNoNetns(): string | undefined {
  if (process.platform !== 'linux') return `it needs Linux, this is ${process.platform}`;
  for (const [tool, from] of [
    ['unshare', 'util-linux'],
    ['nsenter', 'util-linux'],
    ['ip', 'iproute2'],
  ] as const) {
    const tried = spawnSync(tool, [tool === 'ip' ? '-V' : '--version'], { stdio: 'ignore' });
    if (tried.error) return `${tool} is missing; install it (apt-get install ${from})`;
  }
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const tried = spawnSync('unshare', [...user, '--net', '--pid', '--fork', '--mount-proc', 'true'], {
    encoding: 'utf8',
  });
  if (tried.status === 0) return undefined;
  return `the kernel does not allow it here (${tried.stderr.trim()}); run as root (sudo), or allow unprivileged user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu)`;
}
