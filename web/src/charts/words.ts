/** Words that fit into boxes: measured by letters, as measuring each text would take longer than drawing it. */

const MOST = 300;
const OTHER_LETTERS = 9;

export class WordCutter {
  private widths = new Float32Array(0);
  private font = "";

  /** Uses the font that the context has now. */
  use(ctx: CanvasRenderingContext2D): void {
    if (this.font === ctx.font) return;
    this.font = ctx.font;
    this.widths = Float32Array.from(
      { length: 128 },
      (_, code) => ctx.measureText(String.fromCharCode(Math.max(32, code))).width,
    );
  }

  /** The beginning of a text that fits; nothing rather than two letters. */
  cut(text: string, room: number): string {
    let width = 0;
    const end = Math.min(text.length, MOST);
    for (let at = 0; at < end; at++) {
      width += this.widths[text.charCodeAt(at)] ?? OTHER_LETTERS;
      if (width > room) return at < 4 ? "" : `${text.slice(0, at - 2)}…`;
    }
    return text.slice(0, end);
  }
}
