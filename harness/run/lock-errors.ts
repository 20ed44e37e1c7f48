/** Errors about the lock, as its author is told of them: with the last words of a program that ended, and paths from where they stand. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { diedOf } from '../topologies/last-words.js';
import { HandshakeError } from './client-process.js';
import { LockBugError } from './first-answers.js';

/** Where the run's logs are, and where the user stood. */
interface Place {
  folder: string;
  cwd: string;
}

/** Any error; those about the lock say more than before. */
export function toldToAuthor(error: unknown, { folder, cwd }: Place): unknown {
  if (!(error instanceof LockBugError) && !(error instanceof HandshakeError)) return error;
  const { diedOn } = error;
  if (diedOn !== undefined) error.message += dyingWords(join(folder, 'logs', `${diedOn}.log`), diedOn);
  error.message = error.message.replaceAll(`${cwd}/`, '');
  return error;
}

function dyingWords(log: string, host: string): string {
  let text: string;
  try {
    text = readFileSync(log, 'utf8');
  } catch {
    return ''; // it said nothing
  }
  const words = diedOf(text);
  return words === '' ? '' : `; its last words: ${words} (all of them in logs/${host}.log)`;
}
