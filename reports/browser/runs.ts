/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** The script of the list of runs: shows the rows that have every word that was typed, and a verdict that is ticked; and sorts them. */
import { sortable } from './sorting.js';

const rows = [...document.querySelectorAll<HTMLTableRowElement>('tr[data-verdict]')].map((row) => ({
  row,
  verdict: row.dataset.verdict!,
  text: row.textContent!.toLowerCase(),
}));
const words = document.getElementById('words') as HTMLInputElement;
const form = document.getElementById('filter') as HTMLFormElement;

function filter(): void {
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const verdicts = [...form.querySelectorAll<HTMLInputElement>('[name=verdict]:checked')].map(({ value }) => value);
  let matching = 0;
  for (const { row, verdict, text } of rows) {
    const fits = verdicts.includes(verdict) && wanted.every((word) => text.includes(word));
    row.hidden = !fits;
    if (fits) matching++;
  }
  document.getElementById('matching')!.textContent = `${matching} of ${rows.length}`;
}

document.documentElement.classList.add('scripted');
form.addEventListener('input', filter);
form.addEventListener('submit', (event) => event.preventDefault());
filter();
sortable(document.querySelector<HTMLTableElement>('table.runs')!);
