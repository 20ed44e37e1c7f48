/** Which runtime a run gets. */

import { findOnPath } from '../../harness/machine/command.js';
import { provideIp } from '../../harness/machine/iproute.js';
import { inUserNamespaces, namespaceTrouble } from '../../harness/machine/namespaces.js';
import { cacheFolder } from '../../harness/machine/redis-binary.js';
import { services } from '../../harness/topologies/services.js';
import { UsageError } from '../common/errors.js';
import type { Say } from '../common/say.js';
import type { ContainerMachine } from './containers.js';
import type { AskedMachine, Machine } from './machine.js';

/** Programs that make hosts, and the packages that have them. */
const NETNS_TOOLS = { unshare: 'util-linux', nsenter: 'util-linux', hostname: 'hostname' } as const;

export const runtimeNames = ['auto', 'netns', 'docker', 'container'] as const;

/** The runtime to use and, in words, why. */
export type ChosenRuntime =
  | { name: 'netns'; why: string }
  | { name: 'docker'; why: string; machine: ContainerMachine['machine'] }
  | { name: 'container'; why: string; machine: Machine };

/**
 * `auto` is `docker` where an engine answers and the images are there or can be pulled, else `netns`; where this is not Linux,
 * `container`. Throws with the remedy where the runtime asked for, or none of them, is available.
 */
export async function chooseRuntime(asked: AskedMachine, say: Say): Promise<ChosenRuntime> {
  if (asked.runtime === 'container' || (asked.runtime === 'auto' && process.platform !== 'linux')) {
    // Loaded only where it may be wanted.
    const { toolContainerMachine } = await import('./tool-container.js');
    return { name: 'container', ...(await toolContainerMachine(asked, say)) };
  }
  const { title } = services[asked.service ?? 'redis'];
  const isOther = asked.service !== undefined && asked.service !== 'redis';
  const wantsImages = asked.image !== undefined || asked.clientImage !== undefined;
  if (asked.server !== undefined && (asked.runtime === 'docker' || wantsImages))
    throw new UsageError('--server is for the netns runtime; a server in containers is named with --image');
  if (asked.runtime === 'netns' && wantsImages)
    throw new UsageError('--image and --client-image are for the docker runtime, not for netns');
  if (asked.runtime === 'netns') return netns('as asked', say);
  if (asked.server !== undefined) return netns('--server names a program of this machine', say);
  if (isOther && asked.runtime === 'auto' && !wantsImages)
    return netns(`${title} is of this machine; --runtime docker takes it from an image`, say);
  const containers = await containersOrWhyNot(asked, say);
  if ('machine' in containers) {
    const why = `${containers.engine}${asked.runtime === 'docker' ? ', as asked' : ''}`;
    return { name: 'docker', why, machine: containers.machine };
  }
  if (asked.runtime === 'docker' || wantsImages)
    throw new UsageError(`the docker runtime is not available: ${containers.trouble}`);
  return netns(
    `a network namespace per host, on this machine (no docker: ${containers.trouble})`,
    say,
    containers.trouble,
  );
}

async function containersOrWhyNot(asked: AskedMachine, say: Say): Promise<ContainerMachine | { trouble: string }> {
  // Loaded only where it may be wanted.
  const { containerMachine } = await import('./containers.js');
  try {
    return await containerMachine(asked, say);
  } catch (error) {
    if (error instanceof Error && error.name === 'ContainerError') return { trouble: error.message };
    throw error;
  }
}

async function netns(why: string, say: Say, noDocker?: string): Promise<ChosenRuntime> {
  const trouble = (await whyNoIp(say)) ?? (await whyNoNetns());
  if (!trouble) return { name: 'netns', why };
  throw new UsageError(
    `the netns runtime is not available: ${trouble}${noDocker === undefined ? '' : `; nor docker: ${noDocker}`}`,
  );
}

/** Throws with the remedy where this root, of a container, cannot make the namespaces that hosts live in. */
export async function namespacesHere(): Promise<void> {
  const trouble = await namespaceTrouble(inUserNamespaces());
  if (trouble) throw new UsageError(`in the container ${trouble.detail}; the engine or its kernel forbids it`);
}

/** `ip` is fetched where it is missing, as Redis is. */
async function whyNoIp(say: Say): Promise<string | undefined> {
  try {
    await provideIp(cacheFolder(), say);
    return undefined;
  } catch (error) {
    return `ip is missing and could not be downloaded (${(error as Error).message}); install it (apt-get install iproute2)`;
  }
}

async function whyNoNetns(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `it needs Linux, this is ${process.platform}: --runtime container brings it`;
  for (const [tool, debianPackage] of Object.entries(NETNS_TOOLS)) {
    if (!findOnPath(tool)) return `${tool} is missing; install it (apt-get install ${debianPackage})`;
  }
  const trouble = await namespaceTrouble();
  return trouble && `${trouble.detail}; ${trouble.remedy}`;
}
