/** A run takes no arguments: what looks like one was to be a command, or a lock. */
import type { Command } from 'commander';
import { insteadOf } from '../../harness/record/schemas/names.js';
import { UsageError } from '../common/errors.js';
import { looksLikeFile } from './lock-source.js';

export function noCommand(stray: string, commands: readonly Command[]): UsageError {
  const instead = looksLikeFile(stray)
    ? `a lock is named by --lock ${stray}`
    : insteadOf(
        stray,
        commands.map((command) => command.name()),
      );
  return new UsageError(`"${stray}" is no command; ${instead}`);
}
