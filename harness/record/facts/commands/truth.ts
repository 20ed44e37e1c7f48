/** Three-valued logic: what a record of commands says, which may be nothing. */
export type Truth = 'yes' | 'no' | 'unknown';

export function truth(value: boolean): Truth {
  return value ? 'yes' : 'no';
}

export function not(value: Truth): Truth {
  return value === 'unknown' ? 'unknown' : truth(value === 'no');
}

/** `no` if one is; else `unknown` if one is. */
export function and(...values: readonly Truth[]): Truth {
  if (values.includes('no')) return 'no';
  return values.includes('unknown') ? 'unknown' : 'yes';
}

/** What is true of both, where either may be the case. */
export function either(one: Truth, other: Truth): Truth {
  return one === other ? one : 'unknown';
}
