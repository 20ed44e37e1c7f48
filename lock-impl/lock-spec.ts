/**
 * How a lock of the tool's is named with what may be chosen of it: `name[@version][:form]`, as in
 * `redisson/rlock@3.16.4:lock-lease`. No character of it means anything to a shell. A version is the registry's own word. A form is
 * typed as its call is written, with a hyphen for every parenthesis, comma and space: `tryLock(wait, lease)` is `tryLock-wait-lease`.
 */

export interface LockSpec {
  name: string;
  /** Of the published library; absent: the default. */
  version?: string;
  /** As typed; absent: the default. */
  form?: string;
}

/** Takes any text; what is not there is empty, not absent: `name:` has the form ``. */
export function parseLockSpec(spec: string): LockSpec {
  const [, name, version, form] = /^([^@:]*)(?:@([^:]*))?(?::(.*))?$/s.exec(spec)!;
  return { name: name!, ...(version !== undefined && { version }), ...(form !== undefined && { form }) };
}

export function writeLockSpec({ name, version, form }: LockSpec): string {
  return `${name}${version === undefined ? '' : `@${version}`}${form === undefined ? '' : `:${form}`}`;
}

/** `tryLock-wait-lease` of `tryLock(wait, lease)`. */
export function typedForm(call: string): string {
  return call.replace(/[(), ]+/g, '-').replace(/-$/, '');
}

/** The call that a form is typed for, of those; undefined: none of them. */
export function callOf(form: string | undefined, calls: readonly string[] = []): string | undefined {
  return calls.find((call) => typedForm(call) === form);
}

/** A whole version: no range, no tag, nothing that a path or a command could take for something else. */
export function isVersion(text: string): boolean {
  return /^v?\d+(\.\d+)+([.+-][0-9A-Za-z]+)*$/.test(text);
}
