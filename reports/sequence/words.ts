/** Requests and answers in the words of a sequence: whose an owner's value is stands before it, and nothing is long. */
import { createHash } from 'node:crypto';
import type { Exchange } from '../../harness/record/facts/exchanges.js';
import type { RespValue } from '../../harness/record/facts/resp.js';
import { visible } from '../../harness/record/schemas/foreign-text.js';

/** Whose values are: of the client that was first to send them. */
export interface OwnerNames {
  /** `c1:be1779…`, or a value as it is where it is nobody's. */
  named(value: string): string;
}

/** What looks like an owner: nobody draws less by chance, and a command's own words are shorter. */
const OWNER_LENGTH = 8;
const SHOWN = 6;
const LONGEST = 48;

export function namesOfOwners(exchanges: readonly Exchange[]): OwnerNames {
  const owners = new Map<string, string>();
  for (const { client, argv } of exchanges)
    for (const value of valuesOf(argv))
      if (value.length >= OWNER_LENGTH && /\d/.test(value) && !owners.has(value)) owners.set(value, client);
  return {
    named(value) {
      const owner = owners.get(value);
      return owner === undefined ? shortened(value) : `${owner}:${visible(value.slice(0, SHOWN))}…`;
    },
  };
}

/** Without what is everybody's: the command, its key, a script and its keys. */
function valuesOf(argv: readonly string[]): readonly string[] {
  return isScript(argv) ? argv.slice(3 + (Number(argv[2]) || 0)) : argv.slice(2);
}

/** `script`: of one that runs a script, what that is (`scriptInWords`). */
export function argumentsInWords(argv: readonly string[], owners: OwnerNames, script?: string): string {
  const [name = '', ...rest] = argv;
  if (!isScript(argv)) return [name.toUpperCase(), ...rest.map((one) => owners.named(one))].join(' ');
  const [, count, ...others] = rest;
  const which = script ?? scriptInWords(argv, [], new Map());
  return [`${name.toUpperCase()} (${which})`, count, ...others.map((one) => owners.named(one))].join(' ');
}

/**
 * What a script is by the commands that it ran; where nobody knows them, by its first words, and where nobody knows these, by its
 * hash. `texts`: scripts by their hashes.
 */
export function scriptInWords(
  [name = '', script = '']: readonly string[],
  ran: readonly (readonly string[])[],
  texts: ReadonlyMap<string, string>,
): string {
  const commands = ran.map(([command = '']) => visible(command.toUpperCase()));
  if (commands.length > 0) return `runs ${listOfAtMost(commands, ', ')}`;
  const isHash = name.toLowerCase().startsWith('evalsha');
  const text = isHash ? texts.get(script.toLowerCase()) : script;
  return text === undefined
    ? visible(script.slice(0, SHOWN))
    : `"${shortened(text.replace(COMMENTS, '').trim().replaceAll(/\s+/g, ' '))}"`;
}

/** At a script's begin. */
const COMMENTS = /^(\s*--[^\n]*\n)+/;

/** Of what clients sent whole, to be called by its hash later. */
export function scriptsIn(exchanges: readonly Exchange[]): Map<string, string> {
  const texts = exchanges.flatMap(({ argv: [name = '', first = '', second = ''] }) => {
    if (/^eval(_ro)?$/i.test(name)) return [first];
    return /^script$/i.test(name) && /^load$/i.test(first) ? [second] : [];
  });
  return new Map([...new Set(texts)].map((text) => [createHash('sha1').update(text, 'latin1').digest('hex'), text]));
}

/** A script may run any number of them. */
const MOST_COMMANDS = 4;

export function listOfAtMost(commands: readonly string[], separator: string): string {
  const more = commands.length - MOST_COMMANDS;
  return [...commands.slice(0, MOST_COMMANDS), ...(more > 0 ? [`and ${more} more`] : [])].join(separator);
}

function isScript([name = '']: readonly string[]): boolean {
  return /^(eval|evalsha)(_ro)?$/i.test(name);
}

export function answerInWords(value: RespValue, owners: OwnerNames): string {
  switch (value.type) {
    case 'null':
      return 'nil';
    case 'bulk':
      return `"${owners.named(value.text)}"`;
    case 'error':
      return `error: ${shortened(value.text)}`;
    case 'list':
    case 'push':
      return shortened(`[${value.items.map((item) => answerInWords(item, owners)).join(', ')}]`);
    default:
      return value.text;
  }
}

/** Answered, and with what a server says where it did not do what it was asked. */
export function wasRefused({ answer }: Exchange): boolean {
  if (!answer) return false;
  const { value } = answer;
  return value.type === 'null' || value.type === 'error' || (value.type === 'number' && Number(value.text) <= 0);
}

function shortened(text: string): string {
  return visible(text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
}
