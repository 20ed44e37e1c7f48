/** The corpus of real bugs: all of them count, each leads to where it was reported, and what is tried can be asked for. */
import { describe, expect, it } from 'vitest';
import { registered, whyNotChosen } from '../../../cli/run/chosen.js';
import { parseRunFlags } from '../../../cli/run/flags.js';
import { parseLockSpec, writeLockSpec } from '../../../lock-impl/lock-spec.js';
import { kinds, trackRecord } from '../../../scenarios/track-record/index.js';

describe('the track record', () => {
  it('has all 68, in their order, each once', () => {
    const names = Array.from({ length: 68 }, (_, n) => `C${String(n + 1).padStart(2, '0')}`);
    expect(trackRecord.map(({ id }) => id)).toEqual(names);
  });

  it.each(trackRecord.map((entry) => [entry.id, entry] as const))('%s', (_, entry) => {
    expect(entry.link).toMatch(/^https:\/\//);
    expect(entry.what).toMatch(/^[A-Z].*\.$/);
    expect(entry.what.split(' ').length, entry.what).toBeLessThanOrEqual(25);
    expect(entry.broken).not.toBe(entry.mended);
    if ('notYet' in entry.tried) return;
    const { lock, mendedLock = lock } = entry.tried;
    for (const [name, version] of [
      [lock, entry.broken],
      [mendedLock, entry.mended],
    ] as const) {
      const spec = writeLockSpec({ ...parseLockSpec(name), version });
      expect(whyNotChosen(spec)).toBeUndefined();
      expect([entry.library, entry.mendedLibrary]).toContain(registered(name)!.versions!.library);
    }
  });
});

describe('kinds of locks', () => {
  it('are ten at the most, and name no library', () => {
    expect(Object.keys(kinds).length).toBeLessThanOrEqual(10);
    for (const flags of Object.values(kinds)) expect(flags).not.toContain('--lock');
  });

  it.each(Object.entries(kinds))('%s: flags of a run, with a topology', (_, flags) => {
    const { flags: parsed } = parseRunFlags(flags);
    expect(flags).toContain('--topology');
    expect(parsed.topology).toBe(flags[flags.indexOf('--topology') + 1]);
  });
});
