/** The twin of `part-kept`: gives back what it got, and what it may have got. */
import { bothParts } from './both-parts.js';

export default bothParts('broken/part-kept-mended', ({ got, doubtful }) => [
  ...got,
  ...doubtful.map(({ part }) => part),
]);
