import { describe, expect, it } from 'vitest';
import { wrapped, wrappedFor } from '../../../reports/wrap.js';

const ESC = String.fromCharCode(27);

describe('a line that is wider than the terminal', () => {
  it.each([
    ['Note: the harness stood still for 2 s', 24, ['Note: the harness stood', '      still for 2 s']],
    ['  Lock:       no mistake was found', 24, ['  Lock:       no mistake', '         was found']],
    ['  Lock:       no mistake was found at all', 36, ['  Lock:       no mistake was found', '              at all']],
    ['12. stale holder: c4 went on', 18, ['12. stale holder:', '    c4 went on']],
    ['   Why:   r2 was promoted', 20, ['   Why:   r2 was', '        promoted']],
    ['  10.4 s  struck   pause c1: SIGSTOP to c1', 34, ['  10.4 s  struck   pause c1:', '             SIGSTOP to c1']],
    [
      '  10.4 s  struck   pause c1: SIGSTOP to c1 and c2',
      48,
      ['  10.4 s  struck   pause c1: SIGSTOP to c1 and', '                   c2'],
    ],
    ['one two three', 7, ['one two', 'three']],
    ['held for 957 ms (773 ms, 5 %) at 2 stores', 13, ['held for', '957 ms', '(773 ms, 5 %)', 'at 2 stores']],
  ])('%j at %d is broken at words, under its text', (line, columns, lines) => {
    expect(wrapped(line, columns).split('\n')).toEqual(lines);
  });

  it('keeps what fits, each of its lines by itself', () => {
    expect(wrapped('a b\n\n  c d', 5)).toBe('a b\n\n  c d');
  });

  it('keeps a word that is longer than a line, and a line with a command', () => {
    expect(wrapped('Report: /a/long/path/to/report.html', 20)).toBe('Report: /a/long/path/to/report.html');
    expect(wrapped('see https://example.org/a/long/one for more', 20).split('\n')).toEqual([
      'see',
      'https://example.org/a/long/one',
      'for more',
    ]);
    const command = 'Reproduce: npx lock-torture --seed 42 --topology sentinel';
    expect(wrapped(command, 20)).toBe(command);
  });

  it('takes no word of a sentence for a command', () => {
    expect(wrapped('a node r1 of the docker runtime forgot it', 20).split('\n')).toHaveLength(3);
  });

  it('is broken for a terminal alone, and an error under its text', () => {
    const text = 'lock-torture: --lease: 2 needs a unit';
    expect(wrappedFor({}, text)).toBe(text);
    expect(wrappedFor({ isTTY: false, columns: 30 }, text)).toBe(text);
    expect(wrappedFor({ isTTY: true, columns: 35 }, text)).toBe('lock-torture: --lease: 2 needs a\n              unit');
    expect(wrappedFor({ isTTY: true, columns: 0 }, text)).toBe(text);
  });

  it('counts no colour as width, and loses none', () => {
    const red = `${ESC}[31m1. exclusion broken${ESC}[0m: c2 and c5`;
    expect(wrapped(red, 30)).toBe(red);
    expect(wrapped(red, 24)).toBe(`${ESC}[31m1. exclusion broken${ESC}[0m: c2\n   and c5`);
  });
});
