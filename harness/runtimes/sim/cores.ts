/** Of every machine in the world. */
export const CORES = 4;
