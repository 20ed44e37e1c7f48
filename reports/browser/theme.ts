/** The page's colours for canvases: the same variables that its style sheet has, light or dark. */

export interface Theme {
  colour(name: string): string;
  /** Of a key, by its number. */
  key(number: number): string;
  font(px: number, weight?: number): string;
  /** Diagonal lines, for what must be distinguishable without colour. */
  hatch(context: CanvasRenderingContext2D, name: string): CanvasPattern | string;
}

const KEY_COLOURS = 8;
const FAMILY = 'system-ui, "Liberation Sans", Arial, sans-serif';

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const known = new Map<string, string>();
  const hatches = new Map<string, CanvasPattern | string>();
  const colour = (name: string) => {
    let value = known.get(name);
    if (value === undefined) {
      value = style.getPropertyValue(`--${name}`).trim() || '#888';
      known.set(name, value);
    }
    return value;
  };
  return {
    colour,
    key: (number) => colour(number < 0 ? 'other' : `k${number % KEY_COLOURS}`),
    font: (px, weight = 400) => `${weight} ${px}px ${FAMILY}`,
    hatch(context, name) {
      let pattern = hatches.get(name);
      if (pattern === undefined) {
        pattern = makeHatch(context, colour(name));
        hatches.set(name, pattern);
      }
      return pattern;
    },
  };
}

function makeHatch(context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  const size = 6;
  const tile = document.createElement('canvas');
  tile.width = size;
  tile.height = size;
  const pen = tile.getContext('2d')!;
  pen.strokeStyle = colour;
  pen.lineWidth = 1.6;
  pen.beginPath();
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift, size);
    pen.lineTo(shift + size, 0);
  }
  pen.stroke();
  return context.createPattern(tile, 'repeat') ?? colour;
}

export function onThemeChange(listener: () => void): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', listener);
  matchMedia('print').addEventListener('change', listener);
}
