/** From settings of a program or a config file to flags of the command line, which alone know what is allowed. */
import { fileURLToPath } from 'node:url';
import { insteadOf } from '../../harness/record/schemas/names.js';
import type { Settings } from '../../harness/vocabulary/settings.js';
import { fileOfLock } from '../../lock-impl/define-lock.js';
import { UsageError } from './errors.js';
import { dashed } from './values.js';

type Kind = 'plain' | 'file' | 'switch' | 'duration' | 'list' | 'pairs';

/** Every setting; a test compares it with the flags of `run`. */
export const SETTINGS: Readonly<Record<keyof Settings, Kind>> = {
  lock: 'file',
  topology: 'plain',
  service: 'plain',
  workload: 'plain',
  runtime: 'plain',
  server: 'plain',
  image: 'plain',
  clientImage: 'plain',
  clients: 'plain',
  callers: 'plain',
  keys: 'plain',
  startsWithin: 'duration',
  lease: 'duration',
  wait: 'duration',
  hold: 'plain',
  careless: 'switch',
  resource: 'plain',
  timeLimit: 'duration',
  nemesis: 'list',
  nemesisInterval: 'duration',
  plan: 'file',
  seed: 'plain',
  nodes: 'plain',
  persistence: 'plain',
  minReplicasToWrite: 'plain',
  maxmemoryPolicy: 'plain',
  auth: 'switch',
  tls: 'switch',
  redisConf: 'pairs',
  failOn: 'list',
  known: 'file',
  knownOk: 'switch',
  minHolds: 'plain',
  minStrikes: 'plain',
  stopAtFirst: 'switch',
  out: 'file',
};

/** Why what was `minStruckHolds`, `--min-struck-holds` and `LOCK_TORTURE_MIN_STRUCK_HOLDS` is refused. */
export function renamed(before: string, now: string): string {
  return `${before} is now ${now}: it counts strikes (a fault, from injection to healing, that met a held lock), not the holds that they met`;
}

/** Throws, with one line, where a key is unknown or a value cannot be said on a command line. What is undefined is left out. */
export function flagsOf(settings: Readonly<Settings>): string[] {
  return Object.entries(settings).flatMap(([key, value]) => {
    if (key === 'minStruckHolds') throw new UsageError(renamed(key, 'minStrikes'));
    if (!Object.hasOwn(SETTINGS, key))
      throw new UsageError(`"${key}" is no setting; ${insteadOf(key, Object.keys(SETTINGS))}`);
    return value === undefined ? [] : flagOf(key as keyof Settings, value);
  });
}

function flagOf(key: keyof Settings, value: unknown): string[] {
  const flag = `--${dashed(key)}`;
  const said = (text: string | number) => [`${flag}=${text}`];
  const refused = (expected: string) => new UsageError(`${key}: expected ${expected}, got ${described(value)}`);
  switch (SETTINGS[key]) {
    case 'switch':
      if (typeof value !== 'boolean') throw refused('true or false');
      // Said where it is off, too: a config file or a workload may have it on.
      return [value ? flag : `--no-${dashed(key)}`];
    case 'duration':
      if (typeof value === 'number') throw refused(`a duration with its unit, such as "${value}ms" or "${value}s"`);
      break;
    case 'file': {
      const carried = key === 'lock' ? fileOfLock(value) : undefined;
      if (carried?.startsWith('file:')) return said(fileURLToPath(carried));
      if (value instanceof URL && value.protocol === 'file:') return said(fileURLToPath(value));
      if (typeof value !== 'string')
        throw refused(
          key === 'lock'
            ? 'a file, because every client is a process of its own (new URL("./my-lock.ts", import.meta.url), a path, or a lock that is begun with defineLock(import.meta, { … }))'
            : 'a path or a file URL',
        );
      if (value.startsWith('file:')) return said(fileURLToPath(value));
      break;
    }
    case 'list':
      if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return said(value.join(','));
      break;
    case 'pairs': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused('an object of strings');
      return Object.entries(value).flatMap(([name, text]) => said(`${name}=${text}`));
    }
  }
  if (typeof value !== 'string' && typeof value !== 'number') throw refused('a string or a number');
  return said(value);
}

function described(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (value instanceof URL) return value.href;
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? 'an object' : JSON.stringify(value);
}
