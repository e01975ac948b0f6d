import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Plugin } from "vite";

const STYLE = "html,body{height:100%;margin:0;overflow:hidden}#figure{width:100%;height:100%}";

/** A script as it may stand inside a page. */
const inside = (script: string): string => script.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");

/**
 * The page of the figure's frame, plotly inside it. It is one file because a frame without an origin can fetch nothing,
 * not even from us; the server lets it run the scripts it carries and no others (server/frames.py).
 */
export function figureFrame(): Plugin {
  const read = (path: string): string => readFileSync(resolve(import.meta.dirname, path), "utf8");
  return {
    name: "figure-frame",
    apply: "build",
    generateBundle() {
      const plotly = inside(read("node_modules/plotly.js-strict-dist-min/plotly-strict.min.js"));
      const ours = inside(read("src/frames/figure.js"));
      const source = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Figure</title><style>${STYLE}</style></head><body><div id="figure"></div><script>${plotly}</script><script type="module">${ours}</script></body></html>`;
      this.emitFile({ type: "asset", fileName: "frames/figure.html", source });
    },
  };
}
