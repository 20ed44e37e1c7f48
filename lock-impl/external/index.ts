/** Lock libraries of other languages, by the name that `--lock` takes: which project has them, and what they claim. */
import type { ExternalProject } from '../../harness/vocabulary/external.js';
import { type BuiltinLock, ONE_SERVER, WITH_EXTEND } from '../builtin-lock.js';

/** A lock whose client is the program of a project, started with the variant as its argument. */
export interface ExternalLock extends Omit<BuiltinLock, 'module' | 'canary'> {
  project: ExternalProject;
  variant: string;
}

const go: ExternalProject = {
  what: 'Go adapters',
  folder: 'go',
  needs: [['go', 'version']],
  remedy: 'install Go 1.26 or newer, so that go is on PATH',
  build: [['go', 'build', '-trimpath', '-mod=readonly', '-o', '{built}/client', '.']],
  start: ['{built}/client'],
};

const ANYTHING = ['redlock', ...ONE_SERVER] as const;

export const externalLocks: Record<string, ExternalLock> = {
  'go/redsync': {
    project: go,
    variant: 'redsync',
    family: 'external',
    forms: WITH_EXTEND,
    summary: 'github.com/go-redsync/redsync/v4@v4.18.1: Lock, Extend and Unlock',
    claims: 'Redlock, with its validity check; on one server as set-nx-px',
    topologies: ANYTHING,
  },
  'go/redislock': {
    project: go,
    variant: 'redislock',
    family: 'external',
    forms: WITH_EXTEND,
    summary: 'github.com/bsm/redislock@v0.9.4: Obtain, Refresh and Release',
    claims: 'as set-nx-px',
    topologies: ONE_SERVER,
  },
};

export function externalLock(name: string): ExternalLock | undefined {
  return Object.hasOwn(externalLocks, name) ? externalLocks[name] : undefined;
}
