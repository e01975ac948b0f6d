/** Work that is due for many parts of a page at once, one part in every frame, so that scrolling stays smooth. */

type Job = () => void;
type Frame = (next: () => void) => void;

/** A line of jobs, done in the order they came. */
export class Turns {
  private readonly waiting = new Set<Job>();
  private asked = false;

  constructor(private readonly frame: Frame = (next) => void requestAnimationFrame(next)) {}

  /** Does a job when its turn comes; returns how to leave the line. */
  take(job: Job): () => void {
    this.waiting.add(job);
    this.ask();
    return () => this.waiting.delete(job);
  }

  private ask(): void {
    if (this.asked || this.waiting.size === 0) return;
    this.asked = true;
    this.frame(() => this.work());
  }

  private work(): void {
    this.asked = false;
    const [job] = this.waiting;
    if (job) this.waiting.delete(job);
    job?.();
    this.ask();
  }
}

export const turns = new Turns();
