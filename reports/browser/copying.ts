/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** Buttons with `data-copy` copy the command that stands before them. */

/** So long a button says what it did. */
const TOLD_MS = 2_000;

export function listenToCopying(): void {
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest<HTMLButtonElement>('[data-copy]');
    if (button !== null) void copy(button);
  });
}

async function copy(button: HTMLButtonElement): Promise<void> {
  const code = button.parentElement!.querySelector('code')!;
  const done = await navigator.clipboard?.writeText(code.textContent!).then(
    () => true,
    () => false,
  );
  // Not every browser lets a page from a disk write there: then the command is marked, to be copied by key.
  if (!done) getSelection()!.selectAllChildren(code);
  const label = 'copy';
  button.textContent = done ? 'copied' : 'marked: press Ctrl+C';
  setTimeout(() => (button.textContent = label), TOLD_MS);
}
