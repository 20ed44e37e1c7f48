import { describe, expect, test } from 'vitest';
import { ContainedReader } from '../../../../cli/run/contained.js';

describe('what the inside of a container tells', () => {
  test('is put together, however it was cut', () => {
    const frames = [{ to: 'output', text: 'a\n' }, { to: 'channel', text: 'b' }, { signal: 'SIGKILL' }];
    const reader = new ContainedReader();
    const text = frames.map((frame) => `${JSON.stringify(frame)}\n`).join('');
    expect([...text].flatMap((character) => reader.push(character))).toEqual(frames);
  });

  test.each([
    ['sh: not found', /^the container printed what is not the tool's: sh: not found$/],
    ['null', /not the tool's: null$/],
    ['{"to":"elsewhere","text":"x"}', /not the tool's: /],
    ['{"to":"output"}', /not the tool's: /],
    ['\u001b[2Jx'.repeat(1_000), /not the tool's: .{1,90}$/],
  ])('is refused in one line where it is something else: %s', (line, why) => {
    expect(() => new ContainedReader().push(`${line}\n`)).toThrow(why);
  });

  test('has lines of a length', () => {
    const reader = new ContainedReader();
    const push = () => {
      for (let n = 0; n < 20; n++) reader.push('x'.repeat(1 << 20));
    };
    expect(push).toThrow(/^the container printed a line of more than 16777216 characters$/);
  });
});
