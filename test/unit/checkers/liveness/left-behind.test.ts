import { expect, it } from 'vitest';
import { leftBehind } from '../../../../checkers/liveness/left-behind.js';
import { KEY, Story } from '../build.js';

const found = (story: Story) => leftBehind.check(story.input());

/** c1 stored `one` on r1 at 1 s, and asks again at 2 s. */
const tried = () => new Story().up('c1').take(1, 'r1', 'c1', 'one').take(2, 'r1', 'c1', 'two');

it('rejects a try whose value is still there when the next one has come over the same connection', () => {
  const result = found(tried().sample(2.5, 'r1', { owner: 'one' }));
  expect(result).toMatchObject({
    verdict: 'invalid',
    stats: { leftBehind: 1 },
    violations: [{ class: 'liveness', kind: 'left-behind', key: KEY, fromNs: 1e9, untilNs: 2.5e9 }],
  });
  expect(result.violations[0]!.proof).toMatch(
    /^c1 stored lock:0 on r1 at 1\.000 s, and tried for it again at 2\.000 s/,
  );
});

it('accepts where it was named in between: given back, or released', () => {
  const story = new Story()
    .up('c1')
    .take(1, 'r1', 'c1', 'one')
    .unlock(1.5, 'r1', 'c1', 'one')
    .take(2, 'r1', 'c1', 'two');
  expect(found(story.sample(2.5, 'r1', { owner: 'one' })).verdict).toBe('valid');
});

it('accepts where it was named before the node was looked at', () => {
  const story = tried().unlock(2.3, 'r1', 'c1', 'one');
  expect(found(story.sample(2.5, 'r1', { owner: 'one' })).verdict).toBe('valid');
});

it('accepts where the node does not have it: it was refused, or has expired', () => {
  expect(found(tried().sample(2.5, 'r1', { owner: 'two' })).verdict).toBe('valid');
  expect(found(tried().sample(2.5, 'r1')).verdict).toBe('valid');
  expect(found(tried()).verdict).toBe('valid');
});

it('accepts what is still on its way, and what another node has', () => {
  expect(found(tried().sample(2.1, 'r1', { owner: 'one' })).verdict).toBe('valid');
  expect(found(tried().sample(2.5, 'r2', { owner: 'one' })).verdict).toBe('valid');
});

it('accepts another try with the same value, and one of another process', () => {
  const same = new Story().up('c1').take(1, 'r1', 'c1', 'one').take(2, 'r1', 'c1', 'one');
  expect(found(same.sample(2.5, 'r1', { owner: 'one' })).verdict).toBe('valid');
});

it('accepts where the next try came over another connection: what was sent on the first may be lost', () => {
  const story = new Story().up('c1').take(1, 'r1', 'c1', 'one');
  story.command(2, 'r1', 'c1', ['SET', KEY, 'two', 'PX', '5000', 'NX'], 0, '10.77.0.9:40001');
  expect(found(story.sample(2.5, 'r1', { owner: 'one' })).verdict).toBe('valid');
});

it('cannot tell where observations are missing: the line that named the value may be among them', () => {
  const story = () => tried().sample(2.5, 'r1', { owner: 'one' });
  const closed = (observations: number) => found(story().event(3, { type: 'closed', observations }));
  expect(closed(4)).toMatchObject({ verdict: 'unknown', violations: [] });
  expect(closed(3)).toMatchObject({ verdict: 'invalid' });
});

it('understands a script that stores where there is nothing, and one that gives back', () => {
  const asks = (story: Story, at: number, value: string) =>
    story
      .command(at, 'r1', 'c1', ['EVALSHA', 'abc', '1', KEY, value])
      .command(at, 'r1', 'lua', ['set', KEY, value, 'NX', 'PX', '5000']);
  const left = asks(asks(new Story().up('c1'), 1, 'one'), 2, 'two');
  expect(found(left.sample(2.5, 'r1', { owner: 'one' })).verdict).toBe('invalid');
  const given = asks(new Story().up('c1'), 1, 'one').command(1.5, 'r1', 'c1', ['EVALSHA', 'def', '1', KEY, 'one']);
  expect(found(asks(given, 2, 'two').sample(2.5, 'r1', { owner: 'one' })).verdict).toBe('valid');
});
