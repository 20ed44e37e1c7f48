/** Lists by name, made as they are needed. */

/** Adds to the list of that name. */
export function appendTo<T>(lists: Map<string, T[]>, name: string, item: T): void {
  const list = lists.get(name);
  if (list) list.push(item);
  else lists.set(name, [item]);
}
