/** `play.json`, how the play of a scenario went: its form. */
import * as z from 'zod';

export const playSchema = z.object({
  ended: z.literal(true),
  error: z.string().describe('Why it was not played to its end.').optional(),
});
