/** Something that a reader is told, in the order of `atNs`. */
export type Entry =
  | { kind: 'message'; atNs: number; from: string; to: string; text: string; way: Way }
  | { kind: 'note'; atNs: number; host: string; text: string; tone: 'hold' | 'wrong' | 'fault' | 'client' | 'server' };

/** How a message came. `trouble`: what of that is out of the ordinary, in words. */
export interface Way {
  /** Absent: never. */
  arrivedNs?: number;
  trouble?: string;
}
