/** `npm run docs`. */
import { writePages } from './pages.js';

await writePages();
