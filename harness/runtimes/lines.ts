/** Splits a stream of text into lines, however it was cut into chunks. */
export class LineSplitter {
  #rest = '';

  /** The lines that `chunk` completes, without their ends; empty lines are left out. */
  push(chunk: string): string[] {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop()!;
    return lines.map((line) => line.trim()).filter((line) => line !== '');
  }
}
