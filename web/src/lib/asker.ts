/**
 * One question at a time. The same one again while its answer is on the way is asked once more afterwards: news that
 * come faster than answers must not stop every answer. Another question takes its place at once.
 */

/** Asks and shows what came; it catches its own faults. */
export type Work = (stop: AbortSignal) => Promise<unknown>;

interface Turn {
  question: string;
  control: AbortController;
  again: Work | null;
  done: Promise<void>;
}

export class Asker {
  private turn: Turn | null = null;

  /** The promise is kept when the newest answer to this question has come, or another question was asked. */
  ask(question: string, work: Work): Promise<void> {
    if (this.turn?.question === question) {
      this.turn.again = work;
      return this.turn.done;
    }
    this.stop();
    const turn: Turn = { question, control: new AbortController(), again: work, done: Promise.resolve() };
    this.turn = turn;
    turn.done = this.run(turn);
    return turn.done;
  }

  /** Nobody waits for an answer any more. */
  stop(): void {
    this.turn?.control.abort();
    this.turn = null;
  }

  private async run(turn: Turn): Promise<void> {
    const { signal } = turn.control;
    try {
      for (let work = turn.again; work && !signal.aborted; work = turn.again) {
        turn.again = null;
        await work(signal);
      }
    } finally {
      if (this.turn === turn) this.turn = null;
    }
  }
}
