/**
 * A table in columns, made from one specification: `{column: kind}` says what each column holds, and a map says which column
 * holds which field of an event. Making, growing, finishing, filling and reading back all follow from these two, so a column
 * is added in one place, and one that its type in the vocabulary lacks (or has of another kind) does not compile.
 */
import { Column, type Make, Names, Unused, type Values } from './columns.js';

/** What a column holds. */
export interface ColumnKind<V extends Values = Values> {
  readonly make: Make<V>;
  /** The number that stands for no value. */
  readonly absent: number;
  /** The word for each of its numbers, where they are codes. */
  readonly codes?: Readonly<Record<string, number>>;
}

/** Numbers of texts, which are kept beside the columns under the name `list`. */
export interface TextKind<List extends string = string> extends ColumnKind<Int32Array> {
  readonly list: List;
}

/** Any number; NaN for none. */
export const numbers: ColumnKind<Float64Array> = { make: Float64Array, absent: Number.NaN };

/** A row or a line, from 0; -1 for none. */
export const indexes: ColumnKind<Int32Array> = { make: Int32Array, absent: -1 };

/** One of a few words. `absent`: the code that no value counts as; without it every row has a value. */
export function coded(codes: Readonly<Record<string, number>>, absent = NO_CODE): ColumnKind<Uint8Array> {
  return { make: Uint8Array, absent, codes };
}

const NO_CODE = 255;

/** A text, of which there are few different ones. Columns with the same `list` share it. */
export function texts<List extends string>(list: List): TextKind<List> {
  return { make: Int32Array, absent: -1, list };
}

export type Specification = Readonly<Record<string, ColumnKind | TextKind>>;

/** What a specification must be for its table to have the columns of this type, all of them and no others. */
export type SpecificationOf<Table> = {
  readonly [C in keyof Table as Table[C] extends Values ? C : never]: Table[C] extends Values
    ? ColumnKind<Table[C]>
    : never;
};

/** A finished table: typed arrays, which may be longer than `count`, and the lists of texts. */
export type TableOf<S extends Specification> = { readonly count: number } & {
  readonly [C in keyof S]: ArrayOf<S[C]>;
} & { readonly [C in keyof S as ListOf<S[C]>]: readonly string[] };

type ArrayOf<K> = K extends ColumnKind<infer V> ? V : never;
type ListOf<K> = K extends TextKind<infer List> ? List : never;

/**
 * By field of an event, the column that holds it. Where fields share a column, `where` says in which rows it is read back as
 * this one: those whose column of that name holds one of these words. Where an event has several of them the last counts.
 */
export type FieldMap<Field extends PropertyKey, S extends Specification> = {
  readonly [F in Field]: keyof S | { readonly column: keyof S; readonly where: Where<keyof S> };
};

type Where<C extends PropertyKey> = readonly [column: C, words: readonly string[]];

/** A table that grows row by row. */
export class Columns<S extends Specification> {
  count = 0;
  readonly column: { readonly [C in keyof S]: Column<ArrayOf<S[C]>> };
  /** Lists of texts, by name. */
  readonly names: { readonly [C in keyof S as ListOf<S[C]>]: Names };

  constructor(private readonly specification: S) {
    const columns: Record<string, Column<Values>> = {};
    const names: Record<string, Names> = {};
    for (const [name, kind] of Object.entries(specification)) {
      columns[name] = new Column(kind.make, kind.absent);
      if ('list' in kind) names[kind.list] ??= new Names();
    }
    this.column = columns as typeof this.column;
    this.names = names as typeof this.names;
  }

  /**
   * What puts the fields of an event into a row: fields that are undefined are left as they were.
   *
   * It is compiled, a statement for each field, so that every field is looked up by a name that stands in the code. One loop
   * over all fields takes 1.6 times as long: where names vary, the engine cannot remember where an event has which.
   */
  filler<Event extends object>(fields: FieldMap<string, S>): (row: number, event: Event) => void {
    const steps = Object.entries(fields).map(([field, to]) => {
      const name = columnOf<S>(to);
      const kind: ColumnKind | TextKind = this.specification[name]!;
      const names = 'list' in kind ? (this.names as Record<string, Names>)[kind.list]! : undefined;
      return { field, column: this.column[name], names, codes: kind.codes };
    });
    const constants = steps.map(
      (_, n) => `const { column: column${n}, names: names${n}, codes: codes${n} } = steps[${n}];`,
    );
    const statements = steps.map(({ field, names, codes }, n) => {
      const number = names ? `names${n}.of(value${n})` : codes ? `codes${n}[value${n}]` : `value${n}`;
      return `const value${n} = event[${JSON.stringify(field)}]; if (value${n} !== undefined) column${n}.set(row, ${number});`;
    });
    return new Function('steps', `${constants.join('')} return (row, event) => { ${statements.join('')} }`)(steps);
  }

  /** The table as it is now, for good. Columns in which nothing was set share their memory by `unused`. */
  finish(unused = new Unused()): TableOf<S> {
    const table: Record<string, unknown> = { count: this.count };
    for (const [list, { texts }] of Object.entries<Names>(this.names)) table[list] = texts;
    for (const [name, column] of Object.entries<Column<Values>>(this.column))
      table[name] = column.finished(this.count, unused);
    return table as TableOf<S>;
  }
}

/** What puts the fields of a row into an event, as a `filler` took them out of one; fields without a value are left out. */
export function extractor<S extends Specification>(
  specification: S,
  table: TableOf<S>,
  fields: FieldMap<string, S>,
): (row: number, event: object) => void {
  const valuesOf = (column: keyof S) => table[column] as Values;
  const steps = Object.entries(fields).map(([field, from]) => {
    const name = columnOf<S>(from);
    const kind: ColumnKind | TextKind = specification[name]!;
    const words = 'list' in kind ? (table as Record<string, unknown>)[kind.list] : kind.codes && wordsOf(kind.codes);
    return {
      field,
      values: valuesOf(name),
      absent: kind.absent,
      words: words as readonly string[] | undefined,
      rows: typeof from === 'object' ? rowsWhere(specification, valuesOf, from.where) : undefined,
    };
  });
  return (row, event) => {
    for (const { field, values, absent, words, rows } of steps) {
      const value = values[row]!;
      // Of NaN, too, which does not equal itself.
      if (value === absent || Number.isNaN(value) || rows?.(row) === false) continue;
      (event as Record<string, unknown>)[field] = words === undefined ? value : words[value];
    }
  };
}

/** Some rows of a table as a table of their own, in that order. Its rows' numbers are new: indexes of rows are not mended. */
export function rowsOf<S extends Specification, Table extends TableOf<S>>(
  specification: S,
  table: Table,
  rows: readonly number[],
): Table {
  const chosen: Record<string, unknown> = { ...table, count: rows.length };
  for (const name in specification) chosen[name] = valuesAt(table[name] as Values, rows);
  return chosen as Table;
}

/** What an array holds at these places. */
export function valuesAt<V extends Values>(values: V, places: readonly number[]): V {
  const chosen = new (values.constructor as Make<V>)(places.length);
  for (let at = 0; at < places.length; at++) chosen[at] = values[places[at]!]!;
  return chosen;
}

/** By code, its word. */
export function wordsOf<Word extends string>(codes: Readonly<Record<Word, number>>): readonly Word[] {
  const words: Word[] = [];
  for (const word in codes) words[codes[word]] = word;
  return words;
}

function columnOf<S extends Specification>(to: FieldMap<string, S>[string]): keyof S {
  return typeof to === 'object' ? to.column : to;
}

function rowsWhere<S extends Specification>(
  specification: S,
  valuesOf: (column: keyof S) => Values,
  [column, words]: Where<keyof S>,
): (row: number) => boolean {
  const values = valuesOf(column);
  const isOne = new Uint8Array(NO_CODE + 1);
  for (const word of words) isOne[specification[column]!.codes![word]!] = 1;
  return (row) => isOne[values[row]!] === 1;
}
