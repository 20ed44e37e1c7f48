/** Ties a schema to the type of the vocabulary that it describes, both ways: a field that only one of them has does not compile. */
import type * as z from 'zod';

/** `describes<Plan>()(schema)` is `schema`, and an error of the compiler where what it lets through is not a Plan, field by field. */
export function describes<Type>() {
  return <Schema extends z.ZodType>(schema: Schema & Tie<z.output<Schema>, Type>): Schema => schema;
}

type Tie<Given, Wanted> =
  Same<Plain<Given>, Plain<Wanted>> extends true ? unknown : { 'schema and type differ': [Given, Wanted] };

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Intersections made one object, and readonly forgotten: neither shows in a file. */
type Plain<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly unknown[]
    ? { -readonly [I in keyof T]: Plain<T[I]> }
    : unknown extends T
      ? T
      : { -readonly [Name in keyof T]: Plain<T[Name]> };
