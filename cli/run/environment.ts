/** Settings that stand in environment variables: what a CI job or a shell sets once for all that it calls. */
import { insteadOf } from '../../harness/record/schemas/names.js';
import type { Settings } from '../../harness/vocabulary/settings.js';
import { UsageError } from '../common/errors.js';
import { renamed, SETTINGS } from '../common/settings.js';
import { dashed } from '../common/values.js';

const PREFIX = 'LOCK_TORTURE_';
/** Ours, and no settings. */
const OTHERS = /^LOCK_TORTURE_(CACHE|TEST_.*)$/;
const NAMES = new Map((Object.keys(SETTINGS) as (keyof Settings)[]).map((key) => [variableOf(key), key]));

/** `timeLimit` is `LOCK_TORTURE_TIME_LIMIT`. */
export function variableOf(key: keyof Settings): string {
  return PREFIX + dashed(key).replaceAll('-', '_').toUpperCase();
}

/**
 * What the environment sets, as texts of the command line; switches are true or false, and each line of
 * `LOCK_TORTURE_REDIS_CONF` is one directive. Empty is unset. Throws one line where a name is unknown or a text is none of these.
 */
export function settingsOfEnvironment(env: NodeJS.ProcessEnv): Settings {
  const settings: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || OTHERS.test(name) || text === undefined || text === '') continue;
    if (name === 'LOCK_TORTURE_MIN_STRUCK_HOLDS') throw new UsageError(renamed(name, variableOf('minStrikes')));
    const key = NAMES.get(name);
    if (key === undefined)
      throw new UsageError(`${name} is no setting; ${insteadOf(name, [...NAMES.keys(), 'LOCK_TORTURE_CACHE'])}`);
    settings[key] = settingOf(key, name, text);
  }
  return settings;
}

function settingOf(key: keyof Settings, name: string, text: string): unknown {
  if (SETTINGS[key] === 'switch') {
    if (text !== 'true' && text !== 'false') throw new UsageError(`${name} is "${text}": expected true or false`);
    return text === 'true';
  }
  if (SETTINGS[key] !== 'pairs') return text;
  const directives = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    directives.map((line) => {
      const at = line.indexOf('=');
      if (at < 1) throw new UsageError(`${name}: expected key=value on each line, got "${line}"`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
