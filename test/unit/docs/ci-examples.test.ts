/** The jobs for GitLab and Kubernetes need no privilege, and say what it would add. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../support/torture.js';

const read = (name: string) => readFileSync(join(ROOT, 'examples/ci', name), 'utf8');
const isComment = (line: string) => /^\s*#/.test(line);

/** What is refused where no privilege is given: by GitLab's shared runners, or by the policy `restricted` of Kubernetes. */
const PRIVILEGE =
  /privileged|host(Users|Network|PID|IPC|Path)|Unconfined|Unmasked|\badd:|runAsUser: 0|allowPrivilegeEscalation: true|sysctl/;

describe.each(['gitlab.yml', 'kubernetes.yml', 'kubernetes-merge.yml'])('%s', (name) => {
  const lines = read(name).split('\n');
  const carriedOut = lines.filter((line) => !isComment(line)).join('\n');

  it('asks for no privilege, and for no runtime that needs some', () => {
    expect(carriedOut).not.toMatch(PRIVILEGE);
    expect(carriedOut).not.toContain('--runtime');
    expect(carriedOut).toMatch(/lock-torture|torture\.mjs/);
  });
});

it.each(['gitlab.yml', 'kubernetes.yml'])('%s says what privilege adds', (name) => {
  const comments = read(name).split('\n').filter(isComment).join('\n');
  expect(comments).toMatch(/Privilege adds real time/);
  expect(comments).toMatch(PRIVILEGE);
  expect(comments).toContain('virtual time');
});

it.each(['kubernetes.yml', 'kubernetes-merge.yml'])('%s is what the policy `restricted` wants of a pod', (name) => {
  const wanted = [
    'runAsNonRoot: true',
    'allowPrivilegeEscalation: false',
    'seccompProfile: { type: RuntimeDefault }',
    'drop: [ALL]',
  ];
  for (const line of wanted) expect(read(name)).toContain(line);
});
