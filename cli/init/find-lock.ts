/** Which of a module's exports is the lock: what acquires, what releases, and how the object that has both is made. */
import type { Callable, Declared, Module, Parameter } from './read-source.js';
import { declaredIn } from './read-source.js';

export interface FoundLock {
  /** Under which name it is exported; `default`: without one. */
  exported: string;
  /** `new`: a class. `call`: a function that makes the lock. `value`: it is one. `functions`: each is exported by itself. */
  made: 'new' | 'call' | 'value' | 'functions';
  construct: Callable | undefined;
  /** All code of it, to see what it asks of its options. */
  text: string;
  acquire: Callable | undefined;
  /** Undefined: what acquiring gave has it. */
  release: Callable | undefined;
  /** Holds the lock while a function runs. */
  using: Callable | undefined;
  /** Whose object it is. */
  library?: 'redlock' | 'redis-semaphore';
  /** No method that acquires was found: names are guessed. */
  isGuess: boolean;
}

const ACQUIRE = [
  /^acquire$/,
  /^lock$/,
  /^obtain$/,
  /^tryAcquire$/,
  /^tryLock$/,
  /^take$/,
  /^(try)?(acquire|lock|obtain|get|take)\w*(lock|mutex|key|resource)$/i,
];
const RELEASE = [/^release$/, /^unlock$/, /^free$/, /^(release|unlock|free|drop)\w*(lock|mutex|key|resource)$/i];
const USING = [
  /^using$/,
  /^withLock$/,
  /^with\w*(lock|mutex)$/i,
  /^run(Exclusive|Locked)$/,
  /^(execute|run)\w*Lock\w*$/i,
];

/** Methods of the libraries whose objects a lock may be. */
const LIBRARY_METHODS: Readonly<
  Record<string, Pick<FoundLock, 'library'> & { acquire: string; parameters: string[] }>
> = {
  Mutex: { library: 'redis-semaphore', acquire: 'tryAcquire', parameters: [] },
  Semaphore: { library: 'redis-semaphore', acquire: 'tryAcquire', parameters: [] },
  RedlockMutex: { library: 'redis-semaphore', acquire: 'tryAcquire', parameters: [] },
  RedlockSemaphore: { library: 'redis-semaphore', acquire: 'tryAcquire', parameters: [] },
  Redlock: { library: 'redlock', acquire: 'acquire', parameters: ['keys', 'leaseMs'] },
};

/** Undefined where nothing is exported. */
export function findLock(module: Module): FoundLock | undefined {
  const exported = [...module.exports];
  const each = exported.flatMap(([name, declared]) => ofExport(name, declared, module));
  const functions = ofFunctions(exported);
  const found = [...each, ...(functions ? [functions] : [])];
  const best =
    found.find(({ acquire, release }) => acquire && release) ?? found.find(({ acquire }) => acquire) ?? found[0];
  return best ?? guess(exported, module.unknown);
}

function ofExport(exported: string, declared: Declared, module: Module): FoundLock[] {
  if (declared.kind === 'callable') return ofFactory(exported, declared, module);
  const { kind, members, of, construct } = declared;
  const made = kind === 'class' ? 'new' : 'value';
  const making = made === 'new' ? callable('constructor', construct) : undefined;
  const own = kind === 'instance' ? membersOf(of!, module) : members;
  return withMethods({ exported, made, construct: making }, own, of);
}

/** A function that returns the lock: an object with its methods, or one of a class that is known. */
function ofFactory(exported: string, factory: Callable, module: Module): FoundLock[] {
  const [, returned] = /\bnew ([\w$]+)\(/.exec(factory.body) ?? [];
  const inside = declaredIn(factory.body).flatMap((one) => (one.kind === 'callable' ? [one] : one.members));
  const made = { exported, made: 'call', construct: factory } as const;
  if (isNamed(factory.name, [...ACQUIRE, ...USING])) return [];
  const ofInside = withMethods(made, inside, undefined);
  if (ofInside.length > 0 || returned === undefined) return ofInside;
  return withMethods(made, membersOf(returned, module), returned);
}

function membersOf(name: string, module: Module): Callable[] {
  const found = [...module.exports.values()].find((one) => one.kind === 'class' && one.name === name);
  return found?.kind === 'class' ? found.members : [];
}

function withMethods(
  how: Pick<FoundLock, 'exported' | 'made' | 'construct'>,
  members: readonly Callable[],
  of: string | undefined,
): FoundLock[] {
  const text = members.map(({ body }) => body).join('\n');
  const [acquire, release, using] = [ACQUIRE, RELEASE, USING].map((names) => named(members, names));
  if (acquire || using) return [{ ...how, text, acquire, release, using: acquire ? undefined : using, isGuess: false }];
  const known = of === undefined ? undefined : LIBRARY_METHODS[of];
  if (!known) return [];
  return [
    {
      ...how,
      text,
      library: known.library!,
      acquire: callable(known.acquire, known.parameters.map(required)),
      release: known.library === 'redlock' ? undefined : callable('release', []),
      using: undefined,
      isGuess: false,
    },
  ];
}

function ofFunctions(exported: readonly (readonly [string, Declared])[]): FoundLock | undefined {
  const functions = exported.flatMap(([name, declared]) =>
    declared.kind === 'callable' ? [{ ...declared, name: name === 'default' ? declared.name : name }] : [],
  );
  const [acquire, release, using] = [ACQUIRE, RELEASE, USING].map((names) => named(functions, names));
  if (!acquire && !using) return undefined;
  const isDefault = exported.some(([name, one]) => name === 'default' && one.name === (acquire ?? using)!.name);
  return {
    exported: isDefault ? 'default' : (acquire ?? using)!.name,
    made: 'functions',
    construct: undefined,
    text: functions.map(({ body }) => body).join('\n'),
    acquire,
    release,
    using: acquire ? undefined : using,
    isGuess: false,
  };
}

/** What most locks are like, for an export of which nothing is known. */
function guess(exported: readonly (readonly [string, Declared])[], unknown: readonly string[]): FoundLock | undefined {
  const [name, declared] = exported.find(([, one]) => one.kind === 'class') ?? exported[0] ?? [unknown[0], undefined];
  if (name === undefined) return undefined;
  const construct = declared?.kind === 'callable' ? declared : callable('constructor', declared?.construct ?? []);
  const made =
    declared === undefined || declared.kind === 'class' ? 'new' : declared.kind === 'callable' ? 'call' : 'value';
  return {
    exported: name,
    made,
    construct:
      construct.parameters.length === 0 && made === 'new' ? callable('constructor', [required('redis')]) : construct,
    text: '',
    acquire: callable('acquire', ['key', 'leaseMs'].map(required)),
    release: callable('release', ['key', 'token'].map(required)),
    using: undefined,
    isGuess: true,
  };
}

function named(members: readonly Callable[], names: readonly RegExp[]): Callable | undefined {
  return names.map((name) => members.find((member) => name.test(member.name))).find((found) => found !== undefined);
}

function isNamed(name: string, names: readonly RegExp[]): boolean {
  return names.some((pattern) => pattern.test(name));
}

function callable(name: string, parameters: Parameter[]): Callable {
  return { kind: 'callable', name, parameters, body: '' };
}

function required(name: string): Parameter {
  return { name, isOptional: false };
}
