/**
 * EDN (github.com/edn-format/edn), as Clojure programs and so Jepsen print it, read into what JSON would have given:
 *
 * - a map is an object whose keys are the texts of its keys, without the colon of a keyword; a vector, a list and a set
 *   are arrays; a keyword anywhere else is a text with its colon, `:acquire`; a symbol and a character are texts
 * - of a tagged literal (`#jepsen.history.Op{…}`, `#object[…]`, `#inst "…"`) the form is kept and the tag dropped
 * - metadata (`^{:line 3} {…}`) is dropped, as it is no part of the value
 * - a number is a number, so a whole one beyond 2^53 is not exact; a ratio is its quotient
 *
 * Own code, because what there is for JavaScript names no line, and takes `{:a 1]` and a lost brace for something.
 * What is not EDN is refused, except what Clojure prints all the same: hexadecimal numbers, regular expressions.
 */
import {
  BACKSLASH,
  CARET,
  CLOSE_LIST,
  CLOSE_MAP,
  CLOSE_VECTOR,
  COLON,
  EdnTokens,
  HASH,
  NINE,
  OPEN_LIST,
  OPEN_MAP,
  OPEN_VECTOR,
  QUOTE,
  shortened,
  UNDERSCORE,
  ZERO,
} from './edn-tokens.js';
import { NOTHING, type Syntax, Unreadable, unfinished } from './forms.js';

export type Edn = null | boolean | number | string | Edn[] | { [key: string]: Edn };

/** Deeper than any history; a stack has an end. */
const DEPTH_MAX = 200;

export class EdnSyntax extends EdnTokens implements Syntax {
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
    if (text.charCodeAt(at) !== CARET) return this.form();
    // What it is about may be the vector around all forms, which is not read as one.
    this.metadata();
    return NOTHING;
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
      case CARET:
        this.metadata();
        return this.tagged('^');
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

  private metadata(): void {
    this.at++;
    this.tagged('^');
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
}

/** A key of a map as the key of an object. */
function keyText(key: Edn): string {
  if (typeof key === 'string') return key.charCodeAt(0) === COLON ? key.slice(1) : key;
  return printed(key);
}

function printed(form: Edn): string {
  return shortened(typeof form === 'string' ? form : JSON.stringify(form));
}
