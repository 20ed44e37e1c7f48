/** What is said of an error: one line where it was foreseen, its stack where it is a bug. */
import { expect, test } from 'vitest';
import { explain } from '../../../../cli/common/errors.js';
import { HostError } from '../../../../harness/runtimes/netns.js';
import { DeploymentError } from '../../../../harness/topologies/ready.js';

test.each([
  new HostError('host c2 had no namespaces\nafter 30000 ms'),
  new DeploymentError('the single deployment\nwas not ready'),
])('$name is foreseen: one line, and no stack', (error) => {
  expect(explain(error)).toBe(error.message.replace('\n', ' '));
});

test('a bug keeps its stack', () => {
  expect(explain(new Error('no such thing'))).toMatch(/no such thing\n +at .*errors\.test\.ts/);
});
