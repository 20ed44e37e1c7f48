export interface ReadmeCommand {
  command: string;
  /** The heading above it. */
  section: string;
}
export const ADDRESS: string;
export function commandsOf(readme: string): ReadmeCommand[];
export function lockOf(readme: string): string;
export function dockerCommandOf(readme: string): string[];
