/** What GitHub shows on the page of a workflow's run: Markdown appended to the file that it names, where it names one. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Appends a Markdown file. A run does not fail because this fails. */
export function tellStepSummary(markdownFile: string): void {
  const summary = process.env.GITHUB_STEP_SUMMARY;
  if (!summary || !existsSync(markdownFile)) return;
  try {
    appendFileSync(summary, `${readFileSync(markdownFile, 'utf8')}\n`);
  } catch (error) {
    process.stderr.write(`lock-torture: the step summary could not be written: ${(error as Error).message}\n`);
  }
}
