/** The page's data, from the elements that carry it. The other side of `reports/data/pack.ts`. */
import type { PageData } from '../data/page-data.js';

export async function unpack<T>(id: string): Promise<T> {
  const text = atob(document.getElementById(id)!.textContent!.trim());
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return (await new Response(stream).json()) as T;
}

/** With all lists in times, not differences. */
export async function unpackRun(id: string): Promise<PageData> {
  const data = await unpack<PageData>(id);
  for (const { holds, tries } of data.slots) {
    addUp(holds.fromUs);
    addUp(tries.fromUs);
  }
  for (const { owners } of data.nodes) for (const { fromUs } of owners) addUp(fromUs);
  return data;
}

function addUp(list: number[]): void {
  for (let n = 1; n < list.length; n++) list[n]! += list[n - 1]!;
}
