/**
 * Reads a file of forms, EDN or JSON, one after another: what it takes in memory is a piece of the file and the form at
 * hand. The forms stand by themselves, or all of them in one vector; both are how histories are written.
 *
 * It promises that nothing is passed over: a form that cannot be read, one that never ends, a vector that is not closed
 * and anything after its end are errors, with the line. (A reader that forgives a lost brace judges ten operations where
 * the file has a million.)
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { DamagedHistory } from '../shapes.js';

/** How forms are written. */
export interface Syntax {
  /** The first place from `at` on that is neither blank nor a separator nor (where there are such) a comment. */
  skip(text: string, at: number): number;
  /** Reads the form that begins at `at`, and says where it ends in `end`. Throws `unfinished` where the text ends before it. */
  read(text: string, at: number): unknown;
  /** After `read`: the place after the form. */
  readonly end: number;
}

/** What `read` gives for a form that is to be ignored. */
export const NOTHING = Symbol('nothing');

/** Thrown where more text may complete what is being read. */
export const unfinished = Symbol('unfinished');

/** Thrown where no further text could mend it. */
export class Unreadable extends Error {
  constructor(
    readonly problem: string,
    /** Where in the text. */
    readonly at: number,
  ) {
    super(problem);
  }
}

/** Calls `visit` for each form with the line, from 1, on which it begins. Throws DamagedHistory. */
export function forEachForm(path: string, syntax: Syntax, visit: (form: unknown, line: number) => void): void {
  const forms = new Forms(path, syntax, visit);
  for (const text of textsOf(path, () => forms.wanted)) forms.add(text);
  forms.finish();
}

const PIECE_BYTES = 1 << 20;
/** No operation is longer, so a form that is has lost its end. */
const FORM_LENGTH_MAX = 1 << 24;

const BYTE_ORDER_MARK = 0xfeff;
const LINE_BREAK = '\n';
const [OPEN_VECTOR, CLOSE_VECTOR, OPEN_LIST, CLOSE_LIST] = [...'[]()'].map((bracket) => bracket.charCodeAt(0));

/** Takes the text of a file piece by piece, cut anywhere. */
export class Forms {
  private text = '';
  /** What stands before it in `text` has been dealt with. */
  private at = 0;
  private line = 1;
  /** Where the first line break in `text` is that is not counted in `line`; Infinity: there is none. */
  private lineBreakAt = Number.POSITIVE_INFINITY;
  /** The bracket that closes the vector around all forms, and the line of the one that opened it. */
  private closes: number | undefined;
  private openedOnLine = 0;
  private isClosed = false;

  constructor(
    private readonly file: string,
    private readonly syntax: Syntax,
    private readonly visit: (form: unknown, line: number) => void,
  ) {}

  /** How much to read next: twice as much as of a form that has not ended yet, so that it is read again only a few times. */
  get wanted(): number {
    return Math.max(PIECE_BYTES, 2 * (this.text.length - this.at));
  }

  add(text: string): void {
    this.lineAt(this.at);
    this.text = this.text.slice(this.at) + text;
    this.at = 0;
    this.lineBreakAt = this.lineBreakFrom(0);
    while (this.step());
    if (this.text.length - this.at > FORM_LENGTH_MAX) throw this.endless();
  }

  finish(): void {
    this.add(LINE_BREAK); // ends a number or a word that is the last thing in the file
    if (this.at < this.text.length) throw this.endless();
    if (this.closes !== undefined && !this.isClosed)
      throw new DamagedHistory(this.file, this.openedOnLine, 'the vector that begins here never ends');
  }

  /** Deals with what comes next; false where that needs more text. */
  private step(): boolean {
    try {
      this.at = this.syntax.skip(this.text, this.at);
      if (this.at >= this.text.length) return false;
      if (this.bracket(this.text.charCodeAt(this.at))) return true;
      const form = this.syntax.read(this.text, this.at);
      if (form !== NOTHING) this.form(form);
      this.at = this.syntax.end;
      return true;
    } catch (problem) {
      if (problem === unfinished) return false;
      throw problem instanceof Unreadable ? this.damaged(problem) : problem;
    }
  }

  /** True where it was the bracket around all forms. */
  private bracket(code: number): boolean {
    if (code === OPEN_VECTOR || code === OPEN_LIST) {
      if (this.closes !== undefined) return false;
      this.closes = code === OPEN_VECTOR ? CLOSE_VECTOR : CLOSE_LIST;
      this.openedOnLine = this.lineAt(this.at);
    } else if (code === this.closes && !this.isClosed) {
      this.isClosed = true;
    } else {
      return false;
    }
    this.at++;
    return true;
  }

  private form(form: unknown): void {
    const line = this.lineAt(this.at);
    if (this.isClosed) throw new DamagedHistory(this.file, line, 'something follows the end of the vector');
    this.visit(form, line);
  }

  private endless(): DamagedHistory {
    return new DamagedHistory(this.file, this.lineAt(this.at), 'what begins here never ends');
  }

  private damaged({ problem, at }: Unreadable): DamagedHistory {
    const begins = this.lineAt(this.at);
    const line = this.lineAt(at);
    const since = line === begins ? '' : ` (in what begins on line ${begins})`;
    return new DamagedHistory(this.file, line, problem + since);
  }

  /** The line of a place that is not before any that was asked about. */
  private lineAt(at: number): number {
    while (this.lineBreakAt < at) {
      this.line++;
      this.lineBreakAt = this.lineBreakFrom(this.lineBreakAt + 1);
    }
    return this.line;
  }

  private lineBreakFrom(at: number): number {
    const found = this.text.indexOf(LINE_BREAK, at);
    return found < 0 ? Number.POSITIVE_INFINITY : found;
  }
}

/** The text of a file in pieces of about the size that is wanted each time. */
function* textsOf(path: string, wanted: () => number): Generator<string> {
  const file = openSync(path, 'r');
  try {
    const decoder = new StringDecoder('utf8');
    let buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (let isFirst = true; ; isFirst = false) {
      if (wanted() > buffer.length) buffer = Buffer.allocUnsafeSlow(wanted());
      const read = readSync(file, buffer, 0, buffer.length, null);
      if (read === 0) break;
      const text = decoder.write(buffer.subarray(0, read));
      yield isFirst && text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
    }
    yield decoder.end();
  } finally {
    closeSync(file);
  }
}
