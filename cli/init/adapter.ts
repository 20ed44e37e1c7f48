/** The adapter that `init` writes between a lock of the user's and the harness, and what the user is to check in it. */
import {
  type AdapterOptions,
  clientLines,
  imported,
  importsOf,
  nameOfFile,
  refuseWhatCannotBe,
} from './adapter-client.js';
import type { FoundLock } from './find-lock.js';
import { type Argument, argumentsFor, hasRole, type Role, rolesOf } from './roles.js';

export interface Adapter {
  text: string;
  /** One sentence each. */
  checks: string[];
}

export function adapterFor(options: AdapterOptions): Adapter {
  const { lock, file, importedAs } = options;
  const construct = lock.construct && rolesOf(lock.construct, 'construct', `${lock.construct.body}\n${lock.text}`);
  const taking = lock.acquire ?? lock.using!;
  const asked = rolesOf(taking, lock.acquire ? 'acquire' : 'using');
  const given = lock.release && rolesOf(lock.release, 'release');
  const all = [...(construct ?? []), ...asked];
  const ownClient = !hasRole(all, 'client', 'clients', 'redlock', 'url');
  refuseWhatCannotBe(options, all, ownClient);

  const values = valuesFor(options);
  const perHold = construct !== undefined && hasRole(construct, 'key', 'keys', 'lease', 'leaseSeconds');
  const checks: string[] = [];
  const note = (what: string, { list, missing }: { list: string; missing: string[] }) => {
    if (missing.length > 0)
      checks.push(
        `${what} gets nothing for ${missing.map((name) => `\`${name}\``).join(' and ')}: give what it needs.`,
      );
    return list;
  };
  const target = lock.made === 'functions' ? undefined : lock.made === 'value' ? imported(lock, file) : 'lock';
  const call = (name: string, list: string) => `${target === undefined ? '' : `${target}.`}${name}(${list})`;
  const makeLock =
    construct === undefined
      ? undefined
      : `const lock = ${lock.made === 'new' ? 'new ' : 'await '}${imported(lock, file)}(${note(imported(lock, file), argumentsFor(construct, values))});`;

  const hasOwner = hasRole(asked, 'token');
  const acquireList = note(
    `\`${taking.name}\``,
    argumentsFor(asked, { ...values, token: 'owner', routine: 'whileHeld' }),
  );
  const lines: string[] = [];
  if (perHold && makeLock) lines.push(makeLock);
  if (hasOwner) lines.push('const owner = topology.randomValue();');
  if (lock.acquire) {
    const release = releaseOf(options, given, hasOwner, (list) => note(`\`${lock.release?.name}\``, list), call);
    lines.push(...grantLines(options, call(taking.name, acquireList)), ...release);
    checks.push(...checksOf(options, asked));
  } else {
    lines.push(...usingLines(call(taking.name, acquireList)));
    checks.push(`\`${taking.name}\` resolves only after its function has ended, and releases then.`);
  }

  const connect = [
    ...clientLines(options, all, ownClient),
    ...(perHold || !makeLock ? [] : [makeLock]),
    'return {',
    '  // A hold; or null: the lock is certainly not held. An error: nobody can tell, and the client is started anew.',
    `  async acquire(key${optionsUsed(lines.join('\n'))}) {`,
    ...indented(lines, 4),
    '  },',
    '};',
  ];
  const name = lock.exported === 'default' ? nameOfFile(file) : lock.exported;
  const needsRefusal = lines.some((line) => line.includes('isRefusal('));
  const text = [
    "import { defineLock } from 'lock-torture';",
    ...importsOf(options, all, ownClient, importedAs),
    '',
    `// Between lock-torture and ${file}, which stays as it is. Each client of a run is a process of its own that loads this file and`,
    '// calls `connect` once. Their promises are in docs/write-your-own-lock.md of lock-torture.',
    'export default defineLock({',
    `  name: '${name}',`,
    '  async connect(topology) {',
    ...indented(connect, 4),
    '  },',
    '});',
    ...(needsRefusal ? ['', ...refusalLines(options)] : []),
    '',
  ].join('\n');
  if (lock.isGuess)
    checks.unshift(
      `${file} shows no function that acquires: \`lock.acquire(key, leaseMs)\` and \`lock.release(key, held)\` are a guess.`,
    );
  return { text, checks };
}

function valuesFor({ topology }: AdapterOptions): Partial<Record<Role, string>> {
  return {
    client: 'redis',
    clients: topology === 'redlock' ? 'clients' : '[redis]',
    redlock: 'redlock',
    url: 'url',
    key: 'key',
    keys: '[key]',
    lease: 'leaseMs',
    leaseSeconds: 'Math.ceil(leaseMs / 1_000)',
    wait: 'waitMs',
  };
}

// ------------------------------------------------------------------------------------------------------------- holds

function grantLines(options: AdapterOptions, call: string): string[] {
  const { body } = options.lock.acquire!;
  const field = /return \{[^}]*?\b(ok|acquired|success|locked|granted)\b/.exec(body)?.[1];
  const isRefused = field === undefined ? '!held' : `!held.${field}`;
  const by = refusalOf(options);
  const hasToWait = by?.startsWith('await ') ?? false;
  const asked =
    by === undefined
      ? [`const held = await ${call};`]
      : [
          `const held = await ${call}.catch(${hasToWait ? 'async ' : ''}(error${options.typescript ? ': any' : ''}) => {`,
          `  if (${by}) return null;`,
          '  throw error;',
          '});',
        ];
  return [...asked, `if (${isRefused}) return null;`];
}

/** The condition that tells whether what acquiring throws says no; undefined: it throws only where nobody can tell. */
function refusalOf({ lock, topology, redlockMajor }: AdapterOptions): string | undefined {
  const { body } = lock.acquire!;
  if (redlockMajor === undefined || /\bcatch\b/.test(body)) return refusalThrown(body);
  // A majority did not grant it, and what a minority granted holds nothing.
  if (redlockMajor >= 5 && topology === 'redlock') return "error.name === 'ExecutionError'";
  return redlockMajor < 5 ? "error.name === 'LockError'" : 'await isRefusal(error)';
}

/** What it throws where somebody else holds the lock, if it says no in no other way: the condition that tells. */
function refusalThrown(body: string): string | undefined {
  if (/\breturn (null|false|undefined|void 0)?;|: (null|false|undefined|void 0);/.test(body)) return undefined;
  const [, name, text] = /\bthrow new ([\w$.]+)\((?:"([^"]*)"|`([^`$]*))?/.exec(body) ?? [];
  if (name === undefined) return undefined;
  const [, literal] = /\bthrow new [\w$.]+\(`([^`$]*)/.exec(body) ?? [];
  if (name !== 'Error') return `error.constructor.name === '${name}'`;
  const said = text ?? literal;
  return said === undefined || said === '' ? undefined : `error.message.startsWith(${JSON.stringify(said)})`;
}

function releaseOf(
  { lock, typescript, redlockMajor }: AdapterOptions,
  given: Argument[] | undefined,
  hasOwner: boolean,
  note: (list: { list: string; missing: string[] }) => string,
  call: (name: string, list: string) => string,
): string[] {
  const { body } = lock.acquire!;
  let released: string;
  if (lock.release && given) {
    const isField = (name: string) => new RegExp(`return \\{[^}]*\\b${name}\\b`).test(body);
    const named = given.find(({ role }) => role === 'token' || role === 'held')?.parameter.name ?? '';
    const token = hasOwner ? 'owner' : isField(named) ? `held.${named}` : 'held';
    const values = {
      client: 'redis',
      clients: '[redis]',
      key: 'key',
      keys: '[key]',
      lease: 'leaseMs',
      token,
      held: hasOwner ? 'owner' : token,
    };
    released = call(lock.release.name, note(argumentsFor(given, values)));
  } else {
    const isUnlock =
      redlockMajor === undefined ? /\bunlock\b/.test(body) && !/\brelease\b/.test(body) : redlockMajor < 5;
    released = `held.${isUnlock ? 'unlock' : 'release'}()`;
  }
  const throwsLate = redlockMajor !== undefined && redlockMajor >= 5 && !/\bcatch\b/.test(lock.release?.body ?? '');
  return [
    'return {',
    '  async release() {',
    ...(throwsLate
      ? [
          `    return ${released}.then(`,
          '      () => true,',
          `      async (error${typescript ? ': any' : ''}) => {`,
          '        // Every server answered that the lock was not ours any more.',
          '        if (await isRefusal(error)) return false;',
          '        throw error;',
          '      },',
          '    );',
        ]
      : [
          `    const released = await ${released};`,
          '    // false and 0: the lock was not ours any more.',
          '    return released === undefined || Boolean(released);',
        ]),
    '  },',
    '};',
  ];
}

/** The lock is held while a function runs: that ends with the release. */
function usingLines(call: string): string[] {
  return [
    'return new Promise((granted, failed) => {',
    '  const whileHeld = () =>',
    '    new Promise((end) => {',
    '      granted({',
    '        async release() {',
    '          end(null);',
    '          await whole;',
    '        },',
    '      });',
    '    });',
    `  const whole = ${call};`,
    '  whole.catch(failed);',
    '});',
  ];
}

function refusalLines({ typescript }: AdapterOptions): string[] {
  return [
    '/** Redlock throws where it was refused. The votes of its tries tell whether every server said so. */',
    `async function isRefusal(error${typescript ? ': any' : ''}) {`,
    "  if (error.name !== 'ExecutionError') return false;",
    `  const tries${typescript ? ': any[]' : ''} = await Promise.all(error.attempts);`,
    `  const against${typescript ? ': any[]' : ''} = tries.flatMap(({ votesAgainst }) => [...votesAgainst.values()]);`,
    "  return against.every(({ name }) => name === 'ResourceLockedError');",
    '}',
  ];
}

// ------------------------------------------------------------------------------------------------------------ checks

function checksOf(options: AdapterOptions, asked: Argument[]): string[] {
  const { acquire, release, construct, text } = options.lock;
  const taken = [...asked, ...(construct ? rolesOf(construct, 'construct', `${construct.body}\n${text}`) : [])];
  const unit = hasRole(taken, 'lease')
    ? ['The lease is given in milliseconds.']
    : hasRole(taken, 'leaseSeconds')
      ? ['The lease is given in whole seconds, rounded up.']
      : [
          fixedLeaseMs(options.lock) === undefined
            ? NO_LEASE
            : `The lock takes no lease: the config says ${fixedLeaseMs(options.lock)} ms, as the lock's own code does.`,
        ];
  const no =
    refusalOf(options) !== undefined
      ? `\`${acquire!.name}\` throws where somebody else holds the lock. Any other error counts as "cannot tell".`
      : `\`${acquire!.name}\` returns null or false only where the lock is certainly not held. It must throw after a time-out.`;
  const isVoid = release !== undefined && !/\breturn\b[^;]/.test(release.body) && release.body !== '';
  return [
    ...unit,
    no,
    ...(isVoid ? [`\`${release.name}\` returns nothing, so a release that came too late is not known to be one.`] : []),
  ];
}

const NO_LEASE = 'The lock takes no lease: set `lease` in the config to the one that it uses.';

/** The lease that stands in the lock's own code, milliseconds; undefined: it takes one, or shows none. */
export function fixedLeaseMs({ acquire, using, construct, text }: FoundLock): number | undefined {
  const taken = [
    ...(construct ? rolesOf(construct, 'construct', `${construct.body}\n${text}`) : []),
    ...(acquire ? rolesOf(acquire, 'acquire') : rolesOf(using!, 'using')),
  ];
  if (hasRole(taken, 'lease', 'leaseSeconds')) return undefined;
  const code = `${construct?.body ?? ''}\n${text}`;
  const [, ms] = /(?:\bPX|ttl\w*|lease\w*|lockTimeout|duration)["']?\s*[:=,]\s*(\d[\d.e]*)/i.exec(code) ?? [];
  const [, seconds] = /["'{ ]EX["']?\s*[:,]\s*(\d[\d.e]*)/.exec(code) ?? [];
  if (ms !== undefined) return Number(ms);
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

function optionsUsed(text: string): string {
  const used = ['leaseMs', 'waitMs'].filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  return used.length === 0 ? '' : `, { ${used.join(', ')} }`;
}

function indented(lines: readonly string[], by: number): string[] {
  return lines.map((line) => (line === '' ? '' : `${' '.repeat(by)}${line}`));
}
