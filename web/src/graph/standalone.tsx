/**
 * The viewer alone, in one file that carries its graph: `step.graph().save("net.html")`. Nothing is fetched. The one
 * script is also the script of its worker: there is no page in a worker, so it can tell which of the two it is.
 */

import "../style/tokens.css";
import "../style/base.css";
import "../style/components.css";
import "../style/parts.css";
import "../style/standalone.css";
import { signal } from "@preact/signals";
import { render } from "preact";
import { IconButton } from "../components/button";
import { LogoIcon, MoonIcon, SunIcon } from "../components/icons";
import { count, visibleText } from "../lib/format";
import { placePlan } from "../lib/graph-layout";
import type { GraphData } from "../lib/schema";
import { answerLayouts } from "./layout-worker";
import { makeLayouts } from "./layouts";
import { GraphState } from "./state";
import { measureText } from "./text-size";
import { GraphViewer } from "./viewer";

const dark = signal(false);

function setTheme(on: boolean): void {
  dark.value = on;
  document.documentElement.dataset.theme = on ? "dark" : "light";
}

function startWorker(script: string): Worker {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  try {
    return new Worker(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

function Page({ state }: { state: GraphState }) {
  const { data, nodes, edges } = state.model;
  const ops = nodes.filter((node) => node.kind === "op").length;
  return (
    <>
      <header class="hstack solo-bar">
        <LogoIcon size={18} />
        <h1 class="isolate">{visibleText(data.model || "Recorded step")}</h1>
        <span class="quiet">
          {[count(ops, "op"), count(edges.length, "edge"), data.device, data.torch ? `torch ${data.torch}` : ""]
            .filter(Boolean)
            .map(visibleText)
            .join(" · ")}
        </span>
        <span class="spring" />
        <IconButton label={dark.value ? "Light" : "Dark"} onClick={() => setTheme(!dark.peek())}>
          {dark.value ? <SunIcon /> : <MoonIcon />}
        </IconButton>
      </header>
      <main>
        <GraphViewer state={state} />
      </main>
    </>
  );
}

function start(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  setTheme(system.matches);
  system.addEventListener("change", (event) => setTheme(event.matches));
  const script = document.getElementById("graph-script")?.textContent ?? "";
  const app = document.getElementById("app") as HTMLElement;
  const text = document.getElementById("graph-data")?.textContent ?? "";
  let data: GraphData;
  try {
    data = JSON.parse(text) as GraphData;
  } catch {
    app.textContent = 'This file carries no graph, or a damaged one. Save it again with step.graph().save("net.html").';
    return;
  }
  document.title = `${visibleText(data.model || "Graph")} · Stepscope`;
  const layouts = makeLayouts(
    () => startWorker(script),
    () => Promise.resolve(placePlan),
  );
  render(<Page state={new GraphState(data, layouts, measureText())} />, app);
}

if (typeof document === "undefined") answerLayouts(self as unknown as Worker);
else start();
