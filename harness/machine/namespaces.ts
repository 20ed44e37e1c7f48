/** The namespaces in which a whole run lives: how they are entered, and whether they are available here at all. */
import { readFileSync } from 'node:fs';
import { runProgram } from './command.js';

/** What to put before a command so that it runs in network, process and mount namespaces of its own. */
export function inNamespaces(): string[] {
  return isRoot() ? unshare() : inUserNamespaces();
}

/** The same for whom is root, too, where root has no power over what is around it. */
export function inUserNamespaces(): string[] {
  return unshare('--user', '--map-root-user');
}

function unshare(...user: string[]): string[] {
  return ['unshare', ...user, '--net', '--pid', '--fork', '--kill-child', '--mount-proc', '--'];
}

export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

export interface NamespaceTrouble {
  detail: string;
  remedy: string;
}

/** Tried for real, because whether the kernel allows it depends on too many settings to guess; undefined if it does. */
export async function namespaceTrouble(prefix = inNamespaces()): Promise<NamespaceTrouble | undefined> {
  const argv = [...prefix, 'true'];
  const { exitCode, stderr } = await runProgram(argv);
  if (exitCode === 0) return undefined;
  const said = stderr.trim().split('\n').at(-1) || 'it said nothing';
  return { detail: `"${argv.join(' ')}" fails: ${said}`, remedy: isRoot() ? PRIVILEGED : userNamespaceRemedy() };
}

const PRIVILEGED = 'this root may not make namespaces; a container must be started with --privileged';

/** What helps whatever the setting is called. */
const ELSEWHERE = 'run it with sudo; or as root in a container (docker run --privileged)';

/** The settings by which distributions forbid user namespaces, and how each is lifted. */
function userNamespaceRemedy(): string {
  const forbidden = (
    [
      ['kernel.apparmor_restrict_unprivileged_userns', '1', '0'],
      ['kernel.unprivileged_userns_clone', '0', '1'],
      ['user.max_user_namespaces', '0', '10000'],
    ] as const
  ).find(([name, value]) => setting(name) === value);
  if (forbidden) return `as root: sysctl -w ${forbidden[0]}=${forbidden[2]}; or ${ELSEWHERE}`;
  return ELSEWHERE;
}

function setting(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name.replaceAll('.', '/')}`, 'utf8').trim();
  } catch {
    return undefined; // this kernel has no such setting, so it forbids nothing
  }
}
