import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { judge, judgesOf } from '../../../../checkers/index.js';
import { readPlayTrouble } from '../../../../harness/record/store.js';
import { Story, turns } from '../../checkers/build.js';

describe('a play that was not played to its end', () => {
  const judges = judgesOf({ model: { kind: 'mutex' }, played: true });
  const played = (story: Story, playTrouble?: string) => judge({ ...story.whole(30).input(), playTrouble }, judges);

  it('is undecided, in the words of the run itself', () => {
    expect(played(turns(12)).verdict).toBe('held');
    expect(played(turns(12), 'waited 12 s in vain: c1 is granted lock:0')).toMatchObject({
      verdict: 'unknown',
      exitStatus: 2,
      headline: 'Cannot tell: the play could not be played to its end: waited 12 s in vain: c1 is granted lock:0.',
    });
  });

  it('still shows what was found', () => {
    const broken = new Story().grant('c1', 1).grant('c2', 1.5).release('c1', 2).release('c2', 2);
    expect(played(broken, 'waited in vain')).toMatchObject({
      verdict: 'violated',
      reasons: ['the play could not be played to its end: waited in vain'],
    });
  });
});

describe('how a play went', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lock-torture-play-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const kept = (text: string) => {
    writeFileSync(join(folder, 'play.json'), text);
    return () => readPlayTrouble(folder);
  };

  it('is read from its file', () => {
    expect(kept('{"ended":true}')()).toBeUndefined();
    expect(kept('{"ended":true,"error":"waited in vain"}')()).toBe('waited in vain');
  });

  it('is unknown where the run ended first, or the file is damaged', () => {
    expect(readPlayTrouble(folder)).toBe('the run ended before the play did');
    expect(kept('{"ended":')).toThrow(/play\.json/);
    expect(kept('{"ended":true,"error":7}')).toThrow(/play\.json/);
  });
});
