/** Makes it once for each of what it is asked of, a history say: several checkers and the report want the same, and of a long run it is large. */
export function once<Of extends object, T>(make: (of: Of) => T): (of: Of) => T {
  const made = new WeakMap<Of, { value: T }>();
  return (of) => {
    const known = made.get(of) ?? { value: make(of) };
    made.set(of, known);
    return known.value;
  };
}
