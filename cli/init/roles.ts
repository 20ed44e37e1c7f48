/** What a parameter is for, guessed from its name and its place, and what an adapter gives for it. */
import type { Callable, Parameter } from './read-source.js';

export type Role =
  | 'client'
  | 'clients'
  | 'redlock'
  | 'url'
  | 'key'
  | 'keys'
  | 'lease'
  | 'leaseSeconds'
  | 'wait'
  | 'token'
  | 'held'
  | 'routine';

export type CalledFor = 'construct' | 'acquire' | 'release' | 'using';

/** The first that fits counts. */
const BY_NAME: readonly (readonly [RegExp, Role])[] = [
  [/redlock/i, 'redlock'],
  [/^(redis)?(clients|nodes|servers|redises|instances)$/i, 'clients'],
  [/(url|uri)$/i, 'url'],
  [/redis|client|^(conn|connection|db|store)$/i, 'client'],
  [/wait|^(acquire|retry)/i, 'wait'],
  [/^(ttl|lease|expir\w*|timeout)?_?in?_?(s|secs?|seconds)$/i, 'leaseSeconds'],
  [/ttl|lease|expir|duration|validity|lock_?timeout|^(ms|px|timeout|timeoutms|milliseconds)$/i, 'lease'],
  [/^(resources|keys|names)$/i, 'keys'],
  [/key|resource|^(lock)?_?(name|id)$|^path$/i, 'key'],
  [/token|value|owner|uuid|secret|nonce|holder/i, 'token'],
  [/^(lock|held|handle|hold|grant|acquired)$/i, 'held'],
  [/^(fn|func|callback|cb|work|task|routine|action|body|handler|job|critical\w*)$/i, 'routine'],
];

export interface Argument {
  parameter: Parameter;
  role: Role | undefined;
  /** Of an object: what of it has a role. */
  fields?: Argument[];
}

/** `text`: where `options.ttl` shows what is asked of an object that is not taken apart. */
export function rolesOf(
  { parameters, body }: Pick<Callable, 'parameters' | 'body'>,
  phase: CalledFor,
  text = body,
): Argument[] {
  const found = parameters.map((parameter): Argument => {
    const fields = parameter.fields ?? fieldsOf(parameter.name, text);
    if (fields.length === 0) return { parameter, role: roleOf(parameter.name, body) };
    const inner = fields.map((field) => ({ parameter: field, role: roleOf(field.name, body) }));
    return { parameter, role: undefined, fields: inner };
  });
  return byPlace(found, phase);
}

export function hasRole(found: readonly Argument[], ...roles: Role[]): boolean {
  return found.some(({ role, fields = [] }) => (role && roles.includes(role)) || hasRole(fields, ...roles));
}

function roleOf(name: string, body: string): Role | undefined {
  const role = BY_NAME.find(([pattern]) => pattern.test(name))?.[1];
  // Which unit it is shows where it is used: EX and EXPIRE take seconds.
  const inSeconds = /["'{ ]EX["':]|\bsetex\(|\bsetEx\(|\bexpire\(/.test(body) && !/["'{ ]PX["':]/.test(body);
  return role === 'lease' && inSeconds ? 'leaseSeconds' : role;
}

/** What an object of options is asked for: `options.ttl`. */
function fieldsOf(name: string, text: string): Parameter[] {
  if (!/^(opts?|options|config|settings|params)$/i.test(name)) return [];
  const used = [...text.matchAll(new RegExp(`\\b${name}\\.([A-Za-z]\\w*)`, 'g'))].map(([, field]) => field!);
  return [...new Set(used)].map((field) => ({ name: field, isOptional: true }));
}

/** What no name tells, its place does: the client comes first, then the key, then the lease. */
function byPlace(found: Argument[], phase: CalledFor): Argument[] {
  const is = (...roles: Role[]) => hasRole(found, ...roles);
  const give = (role: Role) => {
    const next = found.find((one) => one.role === undefined && one.fields === undefined && !one.parameter.isOptional);
    if (next) next.role = role;
  };
  if (phase === 'construct') {
    if (!is('client', 'clients', 'redlock', 'url')) give('client');
    return found;
  }
  if (phase !== 'release') for (const one of found) if (one.role === 'held') one.role = 'key';
  if (phase === 'release') {
    // `release(key, id)`: the second is what acquiring gave.
    const [, second] = found.filter(({ role }) => role === 'key');
    if (second) second.role = 'held';
    if (!is('key', 'keys', 'held', 'token') && found.length > 1) give('key');
    if (!is('held', 'token')) give('held');
    return found;
  }
  if (!is('key', 'keys')) give('key');
  if (phase === 'using' && !is('routine')) {
    const last = found.at(-1);
    if (last && last.role === undefined) last.role = 'routine';
  }
  if (!is('lease', 'leaseSeconds')) give('lease');
  return found;
}

/** The argument list; `values` has an expression for each role that can be given. Names the parameters that got none. */
export function argumentsFor(
  found: readonly Argument[],
  values: Partial<Record<Role, string>>,
): { list: string; missing: string[] } {
  const missing: string[] = [];
  const texts = found.map(({ parameter, role, fields }): string | undefined => {
    if (fields) {
      const given = fields.flatMap((field) => {
        const value = field.role && values[field.role];
        if (value === undefined && !field.parameter.isOptional) missing.push(field.parameter.name);
        if (value === undefined || (field.role === 'wait' && field.parameter.isOptional)) return [];
        return [field.parameter.name === value ? value : `${field.parameter.name}: ${value}`];
      });
      if (given.length > 0) return `{ ${given.join(', ')} }`;
      return parameter.isOptional ? undefined : '{}';
    }
    const value = role && values[role];
    if (value !== undefined && !(role === 'wait' && parameter.isOptional)) return value;
    if (!parameter.isOptional) missing.push(parameter.name);
    return undefined;
  });
  while (texts.length > 0 && texts.at(-1) === undefined) texts.pop();
  return { list: texts.map((text) => text ?? 'undefined').join(', '), missing };
}
