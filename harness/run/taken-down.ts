/**
 * Taking the parts of a run down when their scope ends. What cannot be taken down is said in one line and is no error: all that
 * a verdict needs is recorded by then, or another error is on its way up, and neither may give way to "ip: timed out".
 * Nothing stays behind for it: processes and namespaces go with the run's first process, containers at the next start.
 */

/** Disposes of `part` with the scope that this is used in. `what` for people: "the servers". */
export function takenDown(what: string, part: AsyncDisposable, say: (line: string) => void): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      try {
        await part[Symbol.asyncDispose]();
      } catch (error) {
        const [why] = (error instanceof Error ? error.message : String(error)).split('\n');
        say(`${what} could not be taken down: ${why}`);
      }
    },
  };
}
