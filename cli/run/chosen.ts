/** What `--lock name[@version][:form]` chooses of a lock that comes with the tool, and the one line where it cannot be had. */
import { NoSuchVersionError } from '../../harness/machine/external-project.js';
import { insteadOf, nearestName } from '../../harness/record/schemas/names.js';
import type { LibraryVersion } from '../../harness/vocabulary/external.js';
import type { BuiltinLock } from '../../lock-impl/builtin-lock.js';
import { externalLocks } from '../../lock-impl/external/index.js';
import { locks } from '../../lock-impl/index.js';
import { isVersion, type LockSpec, parseLockSpec, typedForm, writeLockSpec } from '../../lock-impl/lock-spec.js';
import { nameAndMajor, wantedVersion } from '../../lock-impl/third-party/package-json.js';
import { LockSpecError } from './bundle.js';

/** What the registries say of a lock; undefined where none is called that. */
export function registered(spec: string): Omit<BuiltinLock, 'module'> | undefined {
  const { name } = parseLockSpec(spec);
  if (Object.hasOwn(locks, name)) return locks[name];
  return Object.hasOwn(externalLocks, name) ? externalLocks[name] : undefined;
}

/** Why a lock of the tool's cannot be had so, without its registry being asked: a line. Undefined: it can, or none is called that. */
export function whyNotChosen(spec: string): string | undefined {
  const lock = registered(spec);
  if (!lock) return undefined;
  const { name, version, form } = parseLockSpec(spec);
  const why =
    (version !== undefined && whyNotVersion(lock, name, version)) ||
    (form !== undefined && whyNotForm(lock, { name, form }));
  return why ? `--lock ${spec}: ${why}` : undefined;
}

function whyNotVersion(
  { versions, library }: Omit<BuiltinLock, 'module'>,
  name: string,
  version: string,
): string | undefined {
  if (!versions) return `${name} comes with this tool and has no versions: leave out @${version}`;
  const example = versions.alsoPinned[0] ?? versions.byDefault ?? '1.2.3';
  if (!isVersion(version))
    return `"${version}" is no version of ${versions.library}; write a whole one, as in ${name}@${example}`;
  if (!library) return undefined;
  const { major } = nameAndMajor(wantedVersion(library));
  if (version.startsWith(`${major}.`)) return undefined;
  return `${name} is for versions ${major}.x of ${versions.library}`;
}

function whyNotForm({ calls, forms }: Omit<BuiltinLock, 'module'>, { name, form }: LockSpec & { form: string }) {
  if (form.includes('@')) {
    const [typed, ...rest] = form.split('@');
    return `the version comes first: ${writeLockSpec({ name, version: rest.join('@'), form: typed })}`;
  }
  if (!calls) return `${name} is called in one form (${forms.join(', ')}): leave out :${form}`;
  const typed = calls.map(typedForm);
  return typed.includes(form) ? undefined : `no form "${form}"; ${insteadOf(form, typed)}`;
}

function pinnedVersions({ byDefault, alsoPinned }: NonNullable<BuiltinLock['versions']>): string[] {
  return [...(byDefault === undefined ? [] : [byDefault]), ...alsoPinned];
}

/** The version of its library that takes the place of the default one; undefined: none does. */
export function otherVersion(spec: string): LibraryVersion | undefined {
  const { version } = parseLockSpec(spec);
  const versions = registered(spec)?.versions;
  if (!versions || version === undefined || version === versions.byDefault) return undefined;
  return { library: versions.library, version };
}

/** What the user should know of a version of which nothing is known here; undefined: it is pinned. */
export function unpinnedNote(spec: string): string | undefined {
  const other = otherVersion(spec);
  if (!other || registered(spec)!.versions!.alsoPinned.includes(other.version)) return undefined;
  return `note: ${other.library} ${other.version} is not pinned: no checksum of what is downloaded is kept here`;
}

/** Where the registry turned out not to have the version, that is said of `spec`, with what is pinned: a LockSpecError. */
export async function havingVersion<Made>(spec: string, made: Promise<Made>): Promise<Made> {
  try {
    return await made;
  } catch (error) {
    if (!(error instanceof NoSuchVersionError)) throw error;
    const pinned = pinnedVersions(registered(spec)!.versions!);
    const near = nearestName(parseLockSpec(spec).version!, pinned);
    const instead = near === undefined ? '' : `; did you mean ${near}?`;
    throw new LockSpecError(
      `--lock ${spec}: ${error.message}${instead}${pinned.length > 0 ? ` (pinned: ${pinned.join(', ')})` : ''}`,
    );
  }
}
