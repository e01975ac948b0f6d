/** A plotly figure: our own quick drawing where it suffices, and plotly itself in a frame that can reach nothing. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { readInks } from "../../charts/inks";
import { isServed } from "../../lib/api";
import { readFigure } from "../../lib/chart-figure";
import { visibleText } from "../../lib/format";
import type { MediaItem } from "../../lib/schema";
import { isDark } from "../../theme";
import { FigureView } from "../charts/figure-view";
import { useTurn } from "./frame-turns";
import { Picture, pictureName } from "./pictures";

/** Names what is in the frame; a new version is a new address. */
const FRAME = "./frames/figure.html?v=4.1.1-1";
const WAIT_MS = 20_000;

export function FigureItem({ item }: { item: MediaItem }) {
  if (item.mime.startsWith("image/")) return <Picture item={item} />;
  if (item.text === null)
    return <p class="small quiet media-broken">{item.error ?? "This figure is too large to show here."}</p>;
  return <Figure item={item} figure={item.text} />;
}

function Figure({ item, figure }: { item: MediaItem; figure: string }) {
  const read = useMemo(() => readFigure(figure), [figure]);
  const ours = read !== null && read.undrawn.length === 0 && (read.matrix !== null || read.xy.length > 0);
  const [asked, setAsked] = useState(false);
  const [drawn, setDrawn] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const wanted = isServed() && fault === null && (asked || !ours);
  return (
    <div class="vstack anchor clipped framed raised plotly-place" data-drawn={drawn || undefined}>
      {drawn ? null : wanted && !ours ? <p class="none">Drawing with plotly…</p> : <FigureView item={item} />}
      {wanted ? (
        <Frame
          item={item}
          figure={figure}
          onDrawn={() => setDrawn(true)}
          onFault={(words) => (setDrawn(false), setFault(words))}
        />
      ) : null}
      {fault !== null ? (
        <p class="tiny quiet media-caption">plotly could not draw it: {visibleText(fault.slice(0, 200))}</p>
      ) : null}
      {isServed() && !wanted && fault === null ? (
        <button type="button" class="soft tiny raised plotly-ask" onClick={() => setAsked(true)}>
          Interactive
        </button>
      ) : null}
    </div>
  );
}

interface FrameProps {
  item: MediaItem;
  figure: string;
  onDrawn(): void;
  onFault(words: string): void;
}

function Frame({ item, figure, onDrawn, onFault }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const ready = useRef(false);
  const { mine, pass } = useTurn();
  const dark = isDark.value;
  useEffect(() => {
    if (!mine) return;
    // The frame has no origin that could be named: it is known by its window, and what goes in is only the figure.
    const send = () =>
      ready.current && frame.current?.contentWindow?.postMessage({ figure, inks: dark ? readInks() : null }, "*");
    const listen = (event: MessageEvent<{ ready?: boolean; drawn?: boolean; fault?: string } | null>) => {
      if (event.source === null || event.source !== frame.current?.contentWindow) return;
      if (event.data?.ready) {
        ready.current = true;
        send();
      }
      if (event.data?.drawn || event.data?.fault) pass();
      if (event.data?.drawn) onDrawn();
      if (typeof event.data?.fault === "string") onFault(event.data.fault);
    };
    addEventListener("message", listen);
    send();
    const timer = setTimeout(() => ready.current || (pass(), onFault("its frame did not start")), WAIT_MS);
    return () => {
      removeEventListener("message", listen);
      clearTimeout(timer);
    };
  }, [figure, dark, mine]);
  return mine ? (
    <iframe ref={frame} class="cover plotly-frame" sandbox="allow-scripts" title={pictureName(item)} src={FRAME} />
  ) : null;
}
