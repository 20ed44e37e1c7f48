import { describe, expect, it } from 'vitest';
import { canRedraw, showsUnicode, wantsColour } from '../../../../cli/live/terminal.js';

type Env = Record<string, string>;

describe('a picture that is redrawn', () => {
  it.each([
    [true, { TERM: 'xterm-256color' }, true],
    [false, { TERM: 'xterm-256color' }, false],
    [true, { TERM: 'dumb' }, false],
    [true, {}, false],
    [true, { TERM: 'xterm', CI: 'true' }, false],
    [true, { TERM: 'xterm', CI: '1' }, false],
    [true, { TERM: 'xterm', CI: 'false' }, true],
  ] as [boolean, Env, boolean][])('terminal %s, %j: %s', (isTTY, env, expected) => {
    expect(canRedraw({ isTTY, env })).toBe(expected);
  });
});

describe('colour', () => {
  it.each([
    [true, { TERM: 'xterm' }, true],
    [false, { TERM: 'xterm' }, false],
    [true, { TERM: 'xterm', NO_COLOR: '1' }, false],
    [true, { TERM: 'xterm', NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
  ] as [boolean, Env, boolean][])('terminal %s, %j: %s', (isTTY, env, expected) => {
    expect(wantsColour({ isTTY, env })).toBe(expected);
  });
});

describe('Unicode', () => {
  it.each([
    [{ LANG: 'en_US.UTF-8' }, true],
    [{ LANG: 'de_DE.utf8' }, true],
    [{ LANG: 'en_US.UTF-8', LC_ALL: 'C' }, false],
    [{ LANG: 'C', LC_CTYPE: 'C.UTF-8' }, true],
    [{}, false],
    [{ LANG: 'en_US.UTF-8', TERM: 'linux' }, false],
  ] as [Env, boolean][])('%j: %s', (env, expected) => {
    expect(showsUnicode({ isTTY: true, env })).toBe(expected);
  });
});
