/** A canvas that fits its element, with time to the right. Two of them make the timeline: head and lanes. */
import type { Theme } from './theme.js';
import type { View } from './view.js';

export class Pen {
  readonly context: CanvasRenderingContext2D;
  width = 0;
  height = 0;

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly view: View,
    public theme: Theme,
  ) {
    this.context = canvas.getContext('2d')!;
  }

  /** Where names end and time begins. */
  get left(): number {
    return this.width < 600 ? 44 : 72;
  }

  get right(): number {
    return this.width - 4;
  }

  resize(width: number, height: number): void {
    const ratio = devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
      this.canvas.style.height = `${height}px`;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  clear(): void {
    this.context.clearRect(0, 0, this.width, this.height);
  }

  /** Not clamped. */
  x(us: number): number {
    return this.left + ((us - this.view.fromUs) / this.view.lengthUs) * (this.right - this.left);
  }

  us(x: number): number {
    return this.view.fromUs + ((x - this.left) / (this.right - this.left)) * this.view.lengthUs;
  }

  /** Within the part where time is drawn. */
  clamped(us: number): number {
    return Math.min(this.right, Math.max(this.left, this.x(us)));
  }

  sees(fromUs: number, untilUs: number): boolean {
    return untilUs >= this.view.fromUs && fromUs <= this.view.untilUs;
  }

  get usPerPx(): number {
    return this.view.lengthUs / (this.right - this.left);
  }

  fill(colour: string | CanvasPattern, x: number, y: number, width: number, height: number): void {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  /** A span of time; never thinner than `least`. */
  span(colour: string | CanvasPattern, fromUs: number, untilUs: number, y: number, height: number, least = 1): void {
    const x = this.clamped(fromUs);
    this.fill(colour, x, y, Math.max(least, this.clamped(untilUs) - x), height);
  }

  vertical(colour: string, us: number, y: number, height: number, width = 1, dash: number[] = []): void {
    if (!this.sees(us, us)) return;
    const x = Math.round(this.x(us)) + (width % 2) / 2;
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x, y + height);
    context.stroke();
    context.setLineDash([]);
  }

  frame(colour: string, fromUs: number, untilUs: number, y: number, height: number, dash: number[], width = 2): void {
    const x = this.clamped(fromUs);
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.strokeRect(x, y, Math.max(3, this.clamped(untilUs) - x), height);
    context.setLineDash([]);
  }

  /** As much of it as fits into `width`; nothing below three letters. Says whether anything was written. */
  text(words: string, x: number, y: number, colour: string, px: number, width = Infinity, weight = 400): boolean {
    const { context } = this;
    context.font = this.theme.font(px, weight);
    let fitted = words;
    if (width < Infinity) {
      const letters = Math.floor(width / (px * 0.56));
      if (words.length > letters) fitted = letters < 4 ? '' : `${words.slice(0, letters - 1)}…`;
    }
    if (fitted === '') return false;
    context.fillStyle = colour;
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    context.fillText(fitted, x, y);
    return true;
  }

  /** All of it or nothing: a name cut short would read as another name. */
  name(words: string, x: number, y: number, colour: string, px: number, width: number, weight = 400): void {
    if (words.length * px * 0.58 <= width) this.text(words, x, y, colour, px, Infinity, weight);
  }
}
