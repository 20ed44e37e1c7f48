/** Which runtime a run gets. */

import type { ContainerError } from '../../docker/index.js';
import { findOnPath } from '../../harness/machine/command.js';
import { provideIp } from '../../harness/machine/iproute.js';
import { inUserNamespaces, type NamespaceTrouble, namespaceTrouble } from '../../harness/machine/namespaces.js';
import { cacheFolder } from '../../harness/machine/redis-binary.js';
import { services } from '../../harness/topologies/services.js';
import type { VirtualTime } from '../../harness/vocabulary/run.js';
import { UsageError } from '../common/errors.js';
import type { Say } from '../common/say.js';
import type { ContainerMachine } from './containers.js';
import { type AskedMachine, type Machine, SIM } from './machine.js';

/** Programs that make hosts, and the packages that have them. */
const NETNS_TOOLS = { unshare: 'util-linux', nsenter: 'util-linux', hostname: 'hostname' } as const;

export const runtimeNames = ['auto', 'netns', 'docker', 'container', SIM] as const;

/** The runtime to use and, where there is more than its name to say, why it is that. */
export type ChosenRuntime =
  | { name: 'netns' }
  | { name: 'docker'; why: string; machine: ContainerMachine['machine'] }
  | { name: 'container'; why: string; machine: Machine }
  | { name: typeof SIM; why: string; virtualTime: VirtualTime };

/**
 * `auto` is `docker` where an engine answers and the images are there or can be pulled, else `netns`, and where this machine
 * allows no namespaces either, `sim`: the same run in virtual time; where this is not Linux, `container`. Throws with the remedy where the runtime asked for, or none of them, is available.
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
  if (asked.runtime === SIM) {
    if (wantsImages)
      throw new UsageError('--image and --client-image are for the docker runtime, not for virtual time');
    if (isOther) throw new UsageError(`${ONLY_REDIS}, not ${title}: leave out --runtime ${SIM}`);
    return { name: SIM, why: 'virtual time, as asked', virtualTime: { why: 'as asked' } };
  }
  if (asked.runtime === 'netns') return netns(say);
  if (asked.server !== undefined) return isOther ? netns(say, title) : netnsOrSim(say);
  if (isOther && asked.runtime === 'auto' && !wantsImages) return netns(say, title);
  const containers = await containersOrWhyNot(asked, say);
  if ('machine' in containers) {
    const why = `${containers.engine}${asked.runtime === 'docker' ? ', as asked' : ''}`;
    return { name: 'docker', why, machine: containers.machine };
  }
  if (asked.runtime === 'docker' || wantsImages)
    throw new UsageError(`the docker runtime is not available: ${containers.trouble}`);
  if (containers.install !== undefined) say(`note: for runs in containers, ${containers.install}`);
  return netnsOrSim(say, containers.trouble);
}

async function containersOrWhyNot(
  asked: AskedMachine,
  say: Say,
): Promise<ContainerMachine | { trouble: string; install?: string }> {
  // Loaded only where it may be wanted.
  const { containerMachine } = await import('./containers.js');
  try {
    return await containerMachine(asked, say);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ContainerError')) throw error;
    const { install } = error as ContainerError;
    return { trouble: error.message, ...(install !== undefined && { install }) };
  }
}

const ONLY_REDIS = 'virtual time has Redis and Valkey only';

/** `other`: the title of a service that only real servers have. */
async function netns(say: Say, other?: string): Promise<ChosenRuntime> {
  const trouble = await whyNoNetns(say);
  if (!trouble) return { name: 'netns' };
  const norVirtual = other === undefined ? '' : `; and ${ONLY_REDIS}, not ${other}`;
  throw new UsageError(`the netns runtime is not available: ${trouble.detail}; ${trouble.remedy}${norVirtual}`);
}

/** What virtual time would not be is said at once, with what brings real time. */
async function netnsOrSim(say: Say, noDocker?: string): Promise<ChosenRuntime> {
  const trouble = await whyNoNetns(say);
  if (!trouble) return { name: 'netns' };
  const nor = noDocker === undefined ? '' : `; no docker: ${noDocker}`;
  const engine = noDocker === undefined ? '' : 'a container engine (docker, podman); or ';
  return {
    name: SIM,
    why: `played in virtual time: ${trouble.what} (${trouble.detail}${nor})`,
    virtualTime: { why: trouble.what, remedy: `${engine}${trouble.remedy}` },
  };
}

/** Throws with the remedy where this root, of a container, cannot make the namespaces that hosts live in. */
export async function namespacesHere(): Promise<void> {
  const trouble = await namespaceTrouble(inUserNamespaces());
  if (trouble) throw new UsageError(`in the container ${trouble.detail}; the engine or its kernel forbids it`);
}

/** `what`: of this machine, in short. */
interface NetnsTrouble extends NamespaceTrouble {
  what: string;
}

const CANNOT = 'this machine has not what makes network namespaces';

async function whyNoNetns(say: Say): Promise<NetnsTrouble | undefined> {
  if (process.platform !== 'linux') {
    const detail = `it needs Linux, this is ${process.platform}`;
    return { what: CANNOT, detail, remedy: '--runtime container brings it' };
  }
  for (const [tool, debianPackage] of Object.entries(NETNS_TOOLS)) {
    if (!findOnPath(tool))
      return { what: CANNOT, detail: `${tool} is missing`, remedy: `install it (apt-get install ${debianPackage})` };
  }
  // First what cannot be downloaded.
  const trouble = await namespaceTrouble();
  return trouble ? { what: 'this machine allows no network namespaces', ...trouble } : whyNoIp(say);
}

/** `ip` is fetched where it is missing, as Redis is. */
async function whyNoIp(say: Say): Promise<NetnsTrouble | undefined> {
  try {
    await provideIp(cacheFolder(), say);
    return undefined;
  } catch (error) {
    const detail = `ip is missing and could not be downloaded (${(error as Error).message})`;
    return { what: CANNOT, detail, remedy: 'install it (apt-get install iproute2)' };
  }
}
