/** A run takes no arguments: what looks like one was to be a command, or a lock. */
import type { Command } from 'commander';
import { UsageError } from '../common/errors.js';
import { looksLikeFile } from './lock-source.js';

export function noCommand(stray: string, commands: readonly Command[]): UsageError {
  const instead = looksLikeFile(stray)
    ? `a lock is named by --lock ${stray}`
    : `there are ${commands.map((command) => command.name()).join(', ')}`;
  return new UsageError(`"${stray}" is no command; ${instead}`);
}
