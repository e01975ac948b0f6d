/** Every text that a page draws, with the box it has to stay in: canvas texts are written down as they are drawn, others are measured. */

import type { Page } from "playwright-core";

interface Drawn {
  text: string;
  /** Left, top, right and bottom in pixels of the canvas. */
  box: [number, number, number, number];
  squeezed: boolean;
}

declare global {
  interface Window {
    drawnTexts: Map<HTMLCanvasElement, Drawn[]>;
  }
}

/** To be run before the page's own scripts. */
export function watchLabels(): void {
  const all = (window.drawnTexts = new Map<HTMLCanvasElement, Drawn[]>());
  const proto = CanvasRenderingContext2D.prototype;
  const { fillText, clearRect } = proto;
  proto.clearRect = function (x, y, width, height) {
    const scale = this.getTransform();
    if (x <= 0 && y <= 0 && width * scale.a >= this.canvas.width - 2 && height * scale.d >= this.canvas.height - 2)
      all.delete(this.canvas);
    clearRect.call(this, x, y, width, height);
  };
  proto.fillText = function (text, x, y, most) {
    const size = this.measureText(text);
    const narrow = most === undefined || size.width <= most ? 1 : most / size.width;
    const corners = [
      [x - size.actualBoundingBoxLeft * narrow, y - size.actualBoundingBoxAscent],
      [x + size.actualBoundingBoxRight * narrow, y + size.actualBoundingBoxDescent],
    ].map(([left = 0, top = 0]) => this.getTransform().transformPoint({ x: left, y: top }));
    const xs = corners.map((c) => c.x);
    const ys = corners.map((c) => c.y);
    const drawn = {
      text,
      box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] as Drawn["box"],
      squeezed: narrow < 0.85,
    };
    // Some pictures are painted over without being cleared: the same word at the same place is one word.
    const same = (one: Drawn): boolean =>
      one.text === text && one.box.every((edge, i) => Math.abs(edge - (drawn.box[i] as number)) < 30);
    if (text.trim()) all.set(this.canvas, [...(all.get(this.canvas) ?? []).filter((one) => !same(one)), drawn]);
    if (most === undefined) fillText.call(this, text, x, y);
    else fillText.call(this, text, x, y, most);
  };
}

export interface Faults {
  /** How many texts were looked at. */
  texts: number;
  faults: string[];
}

/** What is cut off by its canvas, lies over another text of it, or was squeezed; and SVG texts outside their picture. */
export function labelFaults(page: Page): Promise<Faults> {
  return page.evaluate(() => {
    const faults: string[] = [];
    let texts = 0;
    const where = (element: Element): string =>
      element.closest("[aria-label]")?.getAttribute("aria-label")?.slice(0, 60) ?? element.className.toString();
    for (const [canvas, drawn] of window.drawnTexts) {
      const { width: shown, height: tall } = canvas.getBoundingClientRect();
      if (!canvas.isConnected || shown === 0 || tall === 0) continue;
      const ratio = canvas.width / shown;
      drawn.forEach(({ text, box: [left, top, right, bottom], squeezed }, at) => {
        texts++;
        if (left < -1 || top < -1 || right > canvas.width + 1 || bottom > canvas.height + 1)
          faults.push(`${where(canvas)}: "${text}" is cut off`);
        if (squeezed) faults.push(`${where(canvas)}: "${text}" is squeezed`);
        const over = drawn.find(
          ({ box }, other) =>
            other < at &&
            box[0] < right - ratio &&
            box[2] > left + ratio &&
            box[1] < bottom - ratio &&
            box[3] > top + ratio,
        );
        if (over) faults.push(`${where(canvas)}: "${text}" lies over "${over.text}"`);
      });
    }
    for (const svg of document.querySelectorAll("main svg:has(text)")) {
      const around = svg.getBoundingClientRect();
      for (const text of svg.querySelectorAll("text")) {
        const box = text.getBoundingClientRect();
        if (!text.textContent?.trim() || box.width === 0) continue;
        texts++;
        if (
          box.left < around.left - 1 ||
          box.right > around.right + 1 ||
          box.top < around.top - 1 ||
          box.bottom > around.bottom + 1
        )
          faults.push(`${where(svg)}: "${text.textContent}" leaves its picture`);
      }
    }
    return { texts, faults };
  });
}
