/** What EDN's forms are made of: blanks, words, strings, characters, numbers. What they make together: `edn.ts`. */
import { Unreadable, unfinished } from './forms.js';

const code = (character: string) => character.charCodeAt(0);
export const QUOTE = code('"');
export const BACKSLASH = code('\\');
const SEMICOLON = code(';');
const COMMA = code(',');
export const COLON = code(':');
export const HASH = code('#');
export const CARET = code('^');
export const UNDERSCORE = code('_');
export const OPEN_MAP = code('{');
export const CLOSE_MAP = code('}');
export const OPEN_VECTOR = code('[');
export const CLOSE_VECTOR = code(']');
export const OPEN_LIST = code('(');
export const CLOSE_LIST = code(')');
export const [ZERO, NINE] = [code('0'), code('9')];
const [PLUS, MINUS] = [code('+'), code('-')];
const SPACE = 0x20;

/** What a word ends before; by character code. */
const ENDS_WORD = new Uint8Array(128);
for (let blank = 0; blank <= SPACE; blank++) ENDS_WORD[blank] = 1;
for (const character of ',;"()[]{}') ENDS_WORD[code(character)] = 1;

const ESCAPES: Record<string, string> = { t: '\t', r: '\r', n: '\n', b: '\b', f: '\f', '\\': '\\', '"': '"' };
const CHARACTERS: Record<string, string> = {
  newline: '\n',
  return: '\r',
  space: ' ',
  tab: '\t',
  formfeed: '\f',
  backspace: '\b',
};

const NUMBER = /^[+-]?\d+(?:N|(?:\.\d*)?(?:[eE][+-]?\d+)?M?)$/;
const RATIO = /^([+-]?\d+)\/(\d+)$/;
const HEXADECIMAL = /^([+-]?)(0[xX][0-9a-fA-F]+)N?$/;
const SYMBOLIC: Record<string, number> = {
  Inf: Number.POSITIVE_INFINITY,
  '-Inf': Number.NEGATIVE_INFINITY,
  NaN: Number.NaN,
};

/** Reads one token after another from a text that may end anywhere; then `unfinished` is thrown. */
export class EdnTokens {
  protected text = '';
  /** The place of the next token. */
  protected at = 0;

  /** Past blanks, commas and comments, or to the end of the text. */
  protected skipBlanks(): number {
    const { text } = this;
    for (; this.at < text.length; this.at++) {
      const next = text.charCodeAt(this.at);
      if (next === SEMICOLON) {
        const end = text.indexOf('\n', this.at);
        // Not to the end of the text: the comment may go on in what is read next.
        if (end < 0) throw unfinished;
        this.at = end;
      } else if (next > SPACE && next !== COMMA) {
        break;
      }
    }
    return this.at;
  }

  protected string(): string {
    const { text } = this;
    let string = '';
    let from = this.at + 1;
    for (let place = from; place < text.length; place++) {
      const next = text.charCodeAt(place);
      if (next === QUOTE) {
        this.at = place + 1;
        return string === '' ? text.slice(from, place) : string + text.slice(from, place);
      }
      if (next !== BACKSLASH) continue;
      string += text.slice(from, place) + this.escaped(place);
      place += text[place + 1] === 'u' ? 5 : 1;
      from = place + 1;
    }
    throw unfinished;
  }

  /** What the escape at `at` stands for. */
  private escaped(at: number): string {
    const { text } = this;
    const letter = text[at + 1];
    if (letter === undefined || (letter === 'u' && at + 6 > text.length)) throw unfinished;
    if (letter === 'u') return this.unicode(text.slice(at + 2, at + 6), at);
    const character = ESCAPES[letter];
    if (character === undefined) throw new Unreadable(`a string has the unknown escape \\${letter}`, at);
    return character;
  }

  private unicode(digits: string, at: number): string {
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new Unreadable(`\\u${digits} is no character`, at);
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  protected regularExpression(): string {
    const start = this.at + 2;
    for (let place = start; place < this.text.length; place++) {
      const next = this.text.charCodeAt(place);
      if (next === BACKSLASH) place++;
      else if (next === QUOTE) {
        this.at = place + 1;
        return this.text.slice(start, place);
      }
    }
    throw unfinished;
  }

  protected symbolic(): number {
    const start = this.at;
    this.at = start + 2;
    const value = SYMBOLIC[this.word()];
    if (value === undefined) throw new Unreadable(`"${this.text.slice(start, this.at)}" is not EDN`, start);
    return value;
  }

  protected character(): string {
    const start = this.at + 1;
    if (start >= this.text.length) throw unfinished;
    // The first character is part of it whatever it is: `\{` is a brace.
    this.at = start + 1;
    this.word();
    const name = this.text.slice(start, this.at);
    if (name.length === 1) return name;
    if (name[0] === 'u' && name.length === 5) return this.unicode(name.slice(1), start);
    const character = CHARACTERS[name] ?? (/^o[0-3]?[0-7]{1,2}$/.test(name) ? octal(name) : undefined);
    if (character === undefined) throw new Unreadable(`\\${name} is no character`, start - 1);
    return character;
  }

  protected keyword(): string {
    const start = this.at;
    const keyword = this.word();
    if (keyword.length < 2) throw new Unreadable('a colon without a word is no keyword', start);
    return keyword;
  }

  /** Whole numbers of usual length, of which a history is full, are read digit by digit. */
  protected number(): number {
    const { text } = this;
    const start = this.at;
    let value = 0;
    let place = start;
    for (; place < text.length; place++) {
      const digit = text.charCodeAt(place) - ZERO;
      if (digit < 0 || digit > 9) break;
      value = 10 * value + digit;
    }
    const isWhole = endsWord(text.charCodeAt(place));
    if (!isWhole || place - start > 15) return this.otherNumber();
    this.at = place;
    return value;
  }

  private otherNumber(): number {
    const start = this.at;
    const word = this.word();
    if (NUMBER.test(word)) return Number(/[NM]$/.test(word) ? word.slice(0, -1) : word);
    const [, numerator, denominator] = RATIO.exec(word) ?? [];
    if (denominator !== undefined) return Number(numerator) / Number(denominator);
    const [, sign, digits] = HEXADECIMAL.exec(word) ?? [];
    if (digits !== undefined) return (sign === '-' ? -1 : 1) * Number(digits);
    throw new Unreadable(`"${shortened(word)}" is no number`, start);
  }

  protected symbolOrNumber(first: number): null | boolean | number | string {
    if (first === PLUS || first === MINUS) {
      const second = this.text.charCodeAt(this.at + 1);
      if (second >= ZERO && second <= NINE) return this.otherNumber();
    }
    const start = this.at;
    const word = this.word();
    if (word === 'nil') return null;
    if (word === 'true') return true;
    if (word === 'false') return false;
    if (!/^[\p{L}.*+!\-_?$%&=<>/']/u.test(word)) throw new Unreadable(`"${shortened(word)}" is not EDN`, start);
    return word;
  }

  /** Everything up to what ends a word. */
  protected word(): string {
    const { text } = this;
    const start = this.at;
    let place = start;
    while (place < text.length && !endsWord(text.charCodeAt(place))) place++;
    // It may go on in what is read next.
    if (place >= text.length) throw unfinished;
    this.at = place;
    return text.slice(start, place);
  }
}

function endsWord(next: number): boolean {
  return next < 128 && ENDS_WORD[next] === 1;
}

export function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function octal(name: string): string {
  return String.fromCharCode(Number.parseInt(name.slice(1), 8));
}
