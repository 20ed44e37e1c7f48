/** Lock clients in other languages that come with the tool as sources, and are built on the machine that runs them. */

/** A small project of its own; `{built}` in an argument stands for the folder in which it was built. */
export interface ExternalProject {
  /** For people: "Go adapters". */
  what: string;
  /** Its sources, below `lock-impl/external/`. */
  folder: string;
  /** A folder beside that one, with sources that several projects have in common: it is laid under the project's own. */
  shared?: string;
  /**
   * Programs that it takes, with arguments that make them tell their version: what a project was built with is part of its
   * key. One without arguments need only be there.
   */
  needs: readonly (readonly [program: string, ...args: string[]])[];
  /** What to do where one of them is missing. */
  remedy: string;
  /** Commands that make it, in a copy of its sources. Versions of what they fetch are pinned by files of the project. */
  build: readonly (readonly string[])[];
  /**
   * Commands before `build`, in the copy of its sources, that have it take `{version}` of `{library}` in the place of the one that it
   * pins; absent: no other can be taken.
   */
  takeVersion?: readonly (readonly string[])[];
  /** What its package manager prints where the registry has no such version: a regular expression, with `{library}` and `{version}`. */
  noSuchVersion?: string;
  /** How long a client may take to start on a busy machine; absent: as the protocol says. Milliseconds. */
  startsWithinMs?: number;
  /** Its clients go by `tls` of the deployment; absent: they connect in plain text, whatever is asked for. */
  speaksTls?: true;
  /** Starts a client; the variant is its last argument. */
  start: readonly string[];
}

/** A version of a published library, as its registry calls both. */
export interface LibraryVersion {
  library: string;
  version: string;
}
