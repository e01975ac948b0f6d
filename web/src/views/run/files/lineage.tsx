/** Which run made an artifact, which runs used it, and what those made in turn. */

import { useMemo } from "preact/hooks";
import { Button, StatusDot } from "../../../components";
import { BoxIcon } from "../../../components/icons";
import { count, formatBytes, visibleText } from "../../../lib/format";
import { BOX, placeLineage, type PlacedNode } from "../../../lib/lineage-layout";
import type { LineageNode, Status } from "../../../lib/schema";
import { useAnswer } from "../answer";
import { linkToPart } from "../place";
import { type VersionRef, writeRef } from "./settings";

export function Lineage({ run, at }: { run: string; at: VersionRef }) {
  const { answer, fault, again } = useAnswer("POST /api/lineage", { run, ...at });
  const placed = useMemo(() => (answer ? placeLineage(answer) : null), [answer]);
  const left = answer?.omitted ?? 0;
  return (
    <section class="card lineage" aria-label="Lineage">
      <header class="card-head">
        <h2>Lineage</h2>
        {left > 0 ? <span class="quiet">{count(left, "more box", "more boxes")} further away</span> : null}
        {answer && answer.unread > 0 ? (
          <Button kind="quiet" onClick={again}>
            {count(answer.unread, "run")} not read yet: look again
          </Button>
        ) : null}
      </header>
      {fault ? <p class="quiet anywhere card-none">{fault instanceof Error ? fault.message : String(fault)}</p> : null}
      {placed ? (
        <div class="lineage-scroll" tabIndex={0} role="group" aria-label="Runs and artifacts, from left to right">
          <div class="lineage-sheet" style={{ width: placed.width, height: placed.height }}>
            <svg width={placed.width} height={placed.height} aria-hidden="true">
              <defs>
                <marker
                  id="lineage-arrow"
                  viewBox="0 0 8 8"
                  refX="7"
                  refY="4"
                  markerWidth="7"
                  markerHeight="7"
                  orient="auto"
                >
                  <path d="M0 0 8 4 0 8Z" />
                </marker>
              </defs>
              {placed.lines.map((line) => (
                <path key={line.key} class="lineage-line" d={line.path} marker-end="url(#lineage-arrow)" />
              ))}
            </svg>
            {placed.nodes.map((one) => (
              <LineageBox key={one.node.id} placed={one} />
            ))}
          </div>
        </div>
      ) : null}
    </section>
  );
}

function LineageBox({ placed: { node, left, top } }: { placed: PlacedNode }) {
  const style = { left, top, width: BOX.width, height: BOX.height };
  const shared = { class: "lineage-box", style, title: visibleText(node.name), "data-kind": node.kind };
  const inside = (
    <>
      {node.kind === "run" ? <StatusDot status={node.status as Status} word={false} /> : <BoxIcon size={14} />}
      <span class="lineage-words">
        <span class="isolate ellipsis">{visibleText(node.name)}</span>
        <span class="quiet isolate ellipsis">{detailOf(node)}</span>
      </span>
    </>
  );
  // An artifact whose maker is gone, or may not be seen, leads nowhere.
  if (!node.run) return <span {...shared}>{inside}</span>;
  const address =
    node.kind === "run"
      ? linkToPart(node.run, "overview")
      : linkToPart(node.run, "files", { artifact: writeRef(node) });
  return (
    <a {...shared} href={address} aria-current={node.focus ? "true" : undefined}>
      {inside}
    </a>
  );
}

function detailOf(node: LineageNode): string {
  if (node.kind === "run") return visibleText(node.project);
  const parts = [`v${node.version}`, visibleText(node.aliases.join(", ")), node.bytes ? formatBytes(node.bytes) : ""];
  return parts.filter(Boolean).join(" · ");
}
