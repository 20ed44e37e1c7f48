/** Which time of the run is looked at, and the moment that is pinned. Everything that draws listens to it. */

/** A history has no finer times than this. */
const LEAST_US = 20;

export class View {
  fromUs: number;
  untilUs: number;
  /** The pinned moment. */
  atUs: number | undefined;
  private readonly listeners: (() => void)[] = [];

  constructor(
    readonly firstUs: number,
    readonly lastUs: number,
  ) {
    this.fromUs = firstUs;
    this.untilUs = lastUs;
  }

  listen(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Shows this time, as far as the run has it. */
  show(fromUs: number, untilUs: number): void {
    const length = Math.min(this.lastUs - this.firstUs, Math.max(LEAST_US, untilUs - fromUs));
    const middle = (fromUs + untilUs) / 2;
    const from = Math.min(Math.max(this.firstUs, middle - length / 2), this.lastUs - length);
    if (from === this.fromUs && from + length === this.untilUs) return;
    this.fromUs = from;
    this.untilUs = from + length;
    this.changed();
  }

  showAll(): void {
    this.show(this.firstUs, this.lastUs);
  }

  /** `factor` above 1 shows less time, around `aroundUs`, which stays where it is. */
  zoom(factor: number, aroundUs = this.atUs ?? (this.fromUs + this.untilUs) / 2): void {
    const around = Math.min(Math.max(aroundUs, this.fromUs), this.untilUs);
    const [before, after] = [around - this.fromUs, this.untilUs - around];
    this.show(around - before / factor, around + after / factor);
  }

  /** By a part of what is shown. */
  pan(part: number): void {
    const by = part * this.lengthUs;
    const from = Math.min(Math.max(this.firstUs, this.fromUs + by), this.lastUs - this.lengthUs);
    this.show(from, from + this.lengthUs);
  }

  pin(atUs: number | undefined): void {
    this.atUs = atUs === undefined ? undefined : Math.min(Math.max(this.firstUs, atUs), this.lastUs);
    this.changed();
  }

  get lengthUs(): number {
    return this.untilUs - this.fromUs;
  }

  get isAll(): boolean {
    return this.fromUs <= this.firstUs && this.untilUs >= this.lastUs;
  }

  /** `#t=8.1-9.2&at=8.45`, in seconds; empty while nothing was chosen. */
  get hash(): string {
    const s = (us: number) => String(Math.round(us) / 1e6);
    const at = this.atUs === undefined ? '' : `&at=${s(this.atUs)}`;
    return this.isAll && at === '' ? '' : `#t=${s(this.fromUs)}-${s(this.untilUs)}${at}`;
  }

  /** True where the hash names a time. */
  goTo(hash: string): boolean {
    const match = /^#t=([\d.]+)-([\d.]+)(?:&at=([\d.]+))?$/.exec(hash);
    if (match === null) return false;
    const [fromUs, untilUs, atUs] = match.slice(1).map((text) => Number(text) * 1e6);
    if (!(untilUs! > fromUs!)) return false;
    this.atUs = Number.isFinite(atUs) ? atUs : undefined;
    this.show(fromUs!, untilUs!);
    this.changed();
    return true;
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}
