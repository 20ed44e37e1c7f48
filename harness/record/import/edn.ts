/**
 * EDN (github.com/edn-format/edn), as Clojure programs and so Jepsen print it, read into what JSON would have given:
 *
 * - a map is an object whose keys are the texts of its keys, without the colon of a keyword; a vector, a list and a set
 *   are arrays; a keyword anywhere else is a text with its colon, `:acquire`; a symbol and a character are texts
 * - of a tagged literal (`#jepsen.history.Op{…}`, `#object[…]`, `#inst "…"`) the form is kept and the tag dropped
 * - a number is a number, so a whole one beyond 2^53 is not exact; a ratio is its quotient
 *
 * Own code, because what there is for JavaScript names no line, and takes `{:a 1]` and a lost brace for something.
 * What is not EDN is refused, except what Clojure prints all the same: hexadecimal numbers, regular expressions.
 */
import { NOTHING, type Syntax, Unreadable, unfinished } from './forms.js';

export type Edn = null | boolean | number | string | Edn[] | { [key: string]: Edn };

/** Deeper than any history; a stack has an end. */
const DEPTH_MAX = 200;

const code = (character: string) => character.charCodeAt(0);
const QUOTE = code('"');
const BACKSLASH = code('\\');
const SEMICOLON = code(';');
const COMMA = code(',');
const COLON = code(':');
const HASH = code('#');
const UNDERSCORE = code('_');
const OPEN_MAP = code('{');
const CLOSE_MAP = code('}');
const OPEN_VECTOR = code('[');
const CLOSE_VECTOR = code(']');
const OPEN_LIST = code('(');
const CLOSE_LIST = code(')');
const [ZERO, NINE, PLUS, MINUS] = [code('0'), code('9'), code('+'), code('-')];
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

export class EdnSyntax implements Syntax {
  private text = '';
  private at = 0;
  private depth = 0;

  get end(): number {
    return this.at;
  }

  skip(text: string, at: number): number {
    this.text = text;
    this.at = at;
    return this.skipBlanks();
  }

  read(text: string, at: number): unknown {
    this.text = text;
    this.at = at;
    this.depth = 0;
    return this.form();
  }

  /** Past blanks, commas and comments, or to the end of the text. */
  private skipBlanks(): number {
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

  private form(): Edn | typeof NOTHING {
    const next = this.text.charCodeAt(this.at);
    switch (next) {
      case OPEN_MAP:
        return this.map();
      case OPEN_VECTOR:
        return this.items(CLOSE_VECTOR);
      case OPEN_LIST:
        return this.items(CLOSE_LIST);
      case QUOTE:
        return this.string();
      case COLON:
        return this.keyword();
      case HASH:
        return this.dispatch();
      case BACKSLASH:
        return this.character();
      case CLOSE_MAP:
      case CLOSE_VECTOR:
      case CLOSE_LIST:
        throw new Unreadable(`"${this.text[this.at]}" closes nothing that is open`, this.at);
      default:
        if (next >= ZERO && next <= NINE) return this.number();
        return this.symbolOrNumber(next);
    }
  }

  /** The next form that is not to be ignored, or undefined before the bracket that closes what it stands in. */
  private formBefore(closes: number): Edn | undefined {
    for (;;) {
      this.skipBlanks();
      if (this.at >= this.text.length) throw unfinished;
      if (this.text.charCodeAt(this.at) === closes) {
        this.at++;
        return undefined;
      }
      const form = this.form();
      if (form !== NOTHING) return form;
    }
  }

  private items(closes: number): Edn[] {
    this.enter();
    const items: Edn[] = [];
    for (let item = this.formBefore(closes); item !== undefined; item = this.formBefore(closes)) items.push(item);
    this.depth--;
    return items;
  }

  private map(): Edn {
    this.enter();
    const map: { [key: string]: Edn } = {};
    for (let key = this.formBefore(CLOSE_MAP); key !== undefined; key = this.formBefore(CLOSE_MAP)) {
      const at = this.at;
      const value = this.formBefore(CLOSE_MAP);
      if (value === undefined) throw new Unreadable(`a map has the key ${printed(key)} without a value`, at);
      const name = keyText(key);
      // As a key of an object it would not be a key.
      if (name !== '__proto__') map[name] = value;
    }
    this.depth--;
    return map;
  }

  private enter(): void {
    this.at++;
    this.depth++;
    if (this.depth > DEPTH_MAX) throw new Unreadable(`more than ${DEPTH_MAX} brackets are open`, this.at - 1);
  }

  private string(): string {
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

  /** What starts with `#`: a set, something to be ignored, a tagged form. */
  private dispatch(): Edn | typeof NOTHING {
    const { text } = this;
    const start = this.at;
    if (start + 1 >= text.length) throw unfinished;
    switch (text.charCodeAt(start + 1)) {
      case OPEN_MAP:
        this.at = start + 1;
        return this.items(CLOSE_MAP);
      case UNDERSCORE:
        this.at = start + 2;
        this.tagged('#_');
        return NOTHING;
      case QUOTE:
        return this.regularExpression();
      case HASH:
        return this.symbolic();
    }
    this.at = start + 1;
    const tag = this.word();
    if (!/^[a-zA-Z:]/.test(tag)) throw new Unreadable(`"#${tag || text[this.at]}" is not EDN`, start);
    return this.tagged(`#${tag}`);
  }

  /** The form that a tag is about. */
  private tagged(tag: string): Edn {
    for (;;) {
      this.skipBlanks();
      if (this.at >= this.text.length) throw unfinished;
      const next = this.text.charCodeAt(this.at);
      if (next === CLOSE_MAP || next === CLOSE_VECTOR || next === CLOSE_LIST)
        throw new Unreadable(`${tag} is followed by no form`, this.at);
      this.depth++;
      if (this.depth > DEPTH_MAX) throw new Unreadable(`more than ${DEPTH_MAX} forms are within one another`, this.at);
      const form = this.form();
      this.depth--;
      if (form !== NOTHING) return form;
    }
  }

  private regularExpression(): string {
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

  private symbolic(): number {
    const start = this.at;
    this.at = start + 2;
    const value = SYMBOLIC[this.word()];
    if (value === undefined) throw new Unreadable(`"${this.text.slice(start, this.at)}" is not EDN`, start);
    return value;
  }

  private character(): string {
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

  private keyword(): string {
    const start = this.at;
    const keyword = this.word();
    if (keyword.length < 2) throw new Unreadable('a colon without a word is no keyword', start);
    return keyword;
  }

  /** Whole numbers of usual length, of which a history is full, are read digit by digit. */
  private number(): Edn {
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

  private symbolOrNumber(first: number): Edn {
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
  private word(): string {
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

/** A key of a map as the key of an object. */
function keyText(key: Edn): string {
  if (typeof key === 'string') return key.charCodeAt(0) === COLON ? key.slice(1) : key;
  return printed(key);
}

function printed(form: Edn): string {
  return shortened(typeof form === 'string' ? form : JSON.stringify(form));
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function octal(name: string): string {
  return String.fromCharCode(Number.parseInt(name.slice(1), 8));
}
