/** Runs tasks that concern one thing one after the other, so that two faults on one host never interleave. */
export class Serial {
  private readonly tails = new Map<string, Promise<unknown>>();

  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.tails.get(key) ?? Promise.resolve();
    const done = before.then(task, task);
    // The next one only needs to know that this one is over.
    this.tails.set(
      key,
      done.catch(() => undefined),
    );
    return done;
  }
}
