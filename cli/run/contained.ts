/** What the inside of `--runtime container` tells the outside on its standard output: a line of JSON each. */
export type ContainedFrame =
  /** What the inner process printed, or told on the descriptor on which it watches the outer one. */
  | { to: 'output' | 'channel'; text: string }
  /** What ended it. */
  | { signal: NodeJS.Signals };
