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
import type { Source } from './source.js';

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

export interface FormsOptions {
  /** So many characters before the vector around all forms are passed over, and a map's end after it: `{"history": […]}`. */
  wrapper?: number;
  /** The file may have lost its end: what is not whole there is left out. */
  torn?: boolean;
}

/**
 * Calls `visit` for each form with the line, from 1, on which it begins. Gives the line on which a torn file's rest begins, if
 * there is one. Throws DamagedHistory.
 */
export function forEachForm(
  source: Source,
  syntax: Syntax,
  visit: (form: unknown, line: number) => void,
  options: FormsOptions = {},
): number | undefined {
  const forms = new Forms(source.path, syntax, visit, options);
  for (const text of textsOf(source, () => forms.wanted)) forms.add(text);
  return forms.finish();
}

const PIECE_BYTES = 1 << 20;
/** No operation is longer, so a form that is has lost its end. */
const FORM_LENGTH_MAX = 1 << 24;

const BYTE_ORDER_MARK = 0xfeff;
const LINE_BREAK = '\n';
const [OPEN_VECTOR, CLOSE_VECTOR, OPEN_LIST, CLOSE_LIST] = [...'[]()'].map((bracket) => bracket.charCodeAt(0));
const CLOSE_MAP = '}';

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
  /** Characters of the wrapper before its vector that have not come yet. */
  private toPassOver: number;
  /** Of what follows a wrapper's vector, the last character that is not blank. */
  private last = '';

  constructor(
    private readonly file: string,
    private readonly syntax: Syntax,
    private readonly visit: (form: unknown, line: number) => void,
    private readonly options: FormsOptions = {},
  ) {
    this.toPassOver = options.wrapper ?? 0;
  }

  /** How much to read next: twice as much as of a form that has not ended yet, so that it is read again only a few times. */
  get wanted(): number {
    return Math.max(PIECE_BYTES, 2 * (this.text.length - this.at));
  }

  add(text: string): void {
    this.lineAt(this.at);
    this.text = this.text.slice(this.at) + text;
    this.at = 0;
    this.lineBreakAt = this.lineBreakFrom(0);
    if (this.text.length < this.toPassOver) return;
    this.at = this.toPassOver;
    this.toPassOver = 0;
    while (this.step());
    if (this.text.length - this.at > FORM_LENGTH_MAX) throw this.endless();
  }

  /** Gives the line on which begins what is not whole, where that is allowed. */
  finish(): number | undefined {
    const { torn = false, wrapper } = this.options;
    try {
      this.add(LINE_BREAK); // ends a number or a word that is the last thing in the file
      if (this.at < this.text.length) throw this.endless();
    } catch (problem) {
      if (torn && problem instanceof DamagedHistory) return this.lineAt(this.at);
      throw problem;
    }
    if (this.closes !== undefined && !this.isClosed) {
      if (torn) return this.lineAt(this.at);
      throw new DamagedHistory(this.file, this.openedOnLine, 'the vector that begins here never ends');
    }
    if (wrapper !== undefined && this.last !== CLOSE_MAP && !torn)
      throw new DamagedHistory(this.file, 1, 'the map that begins here never ends');
    return undefined;
  }

  /** Deals with what comes next; false where that needs more text. */
  private step(): boolean {
    if (this.isClosed && this.options.wrapper !== undefined) {
      this.last = this.text.slice(this.at).trimEnd().at(-1) ?? this.last;
      this.at = this.text.length;
      return false;
    }
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
    const isLastLine = !this.text.slice(this.at).trimEnd().includes(LINE_BREAK);
    const remedy = isLastLine ? '; if the file was cut off, --torn judges what stands before it' : '';
    return new DamagedHistory(this.file, this.lineAt(this.at), `what begins here never ends${remedy}`);
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
function* textsOf(source: Source, wanted: () => number): Generator<string> {
  const decoder = new StringDecoder('utf8');
  let isFirst = true;
  for (const bytes of source.unpacked ? piecesOf(source.unpacked, wanted) : readFrom(source.path, wanted)) {
    const text = decoder.write(bytes);
    yield isFirst && text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
    isFirst = false;
  }
  yield decoder.end();
}

function* piecesOf(bytes: Buffer, wanted: () => number): Generator<Buffer> {
  for (let at = 0, size = 0; at < bytes.length; at += size) {
    size = wanted();
    yield bytes.subarray(at, at + size);
  }
}

function* readFrom(path: string, wanted: () => number): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    let buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (;;) {
      if (wanted() > buffer.length) buffer = Buffer.allocUnsafeSlow(wanted());
      const read = readSync(file, buffer, 0, buffer.length, null);
      if (read === 0) return;
      yield buffer.subarray(0, read);
    }
  } finally {
    closeSync(file);
  }
}
