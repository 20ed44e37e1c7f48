/** What `extend()` is given by a caller that names no time, milliseconds: its parameter's default. */
export const NO_TIME_GIVEN: number = 0;
