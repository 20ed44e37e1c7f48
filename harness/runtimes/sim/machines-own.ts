/** The machine's own, kept from before the world's took its place (`globals.ts`, which loads this first). */
export const machinesOwn = { setImmediate, setInterval, setTimeout, clearTimeout };
