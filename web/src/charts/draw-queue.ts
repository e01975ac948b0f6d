/**
 * Draws charts a few at a time. A zoom, or an answer of the server, changes every chart on the page at once; drawing
 * all of them in one go would hold the page up. How many go into a frame follows from how long frames take, painting
 * included.
 */

const START = 2;
const MOST = 32;
/** A frame that was over sooner had room for more; one that took longer had too much. */
const SHORT_MS = 20;
const LONG_MS = 40;
/** More work of our own than this is not begun in a frame. */
const WORK_MS = 12;

type Frame = (work: (now: number) => void) => unknown;

export class DrawQueue {
  /** The oldest wish first. A chart that is asked for again keeps its place, so that none waits for ever. */
  private readonly waiting = new Map<object, () => void>();
  private urgent: object | null = null;
  private asked = false;
  private atOnce = START;
  private before = Number.NaN;

  constructor(
    private readonly nextFrame: Frame = (work) => requestAnimationFrame(work),
    private readonly clock: () => number = () => performance.now(),
  ) {}

  /** Draws soon; `first` before all others, for the chart that the mouse is on. */
  ask(who: object, draw: () => void, first = false): void {
    this.waiting.set(who, draw);
    if (first) this.urgent = who;
    if (this.asked) return;
    this.asked = true;
    this.before = Number.NaN;
    this.nextFrame((now) => this.frame(now));
  }

  drop(who: object): void {
    this.waiting.delete(who);
  }

  /** Draws what waits for one chart now; for whoever wants to have its picture. */
  now(who: object): void {
    const draw = this.waiting.get(who);
    this.waiting.delete(who);
    draw?.();
  }

  /** Draws everything that waits now. */
  flush(): void {
    for (const who of [...this.waiting.keys()]) this.now(who);
  }

  private frame(now: number): void {
    const took = now - this.before;
    if (took > LONG_MS) this.atOnce = Math.max(1, this.atOnce >> 1);
    else if (took < SHORT_MS) this.atOnce = Math.min(MOST, this.atOnce * 2);
    this.before = now;
    const end = this.clock() + WORK_MS;
    const turn = [...this.waiting.keys()]
      .sort((a, b) => Number(b === this.urgent) - Number(a === this.urgent))
      .slice(0, this.atOnce);
    this.urgent = null;
    for (const [i, who] of turn.entries()) if (i === 0 || this.clock() < end) this.now(who);
    this.asked = this.waiting.size > 0;
    if (this.asked) this.nextFrame((next) => this.frame(next));
  }
}
