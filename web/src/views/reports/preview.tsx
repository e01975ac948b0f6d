/** The report as it will be, while it is written; its panels can be changed, moved and taken out here. */

import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "../../components";
import { ArrowDownIcon, ArrowUpIcon, CloseIcon, DragIcon, PencilIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import { beginsWithTitle, type Shown } from "../../lib/report-blocks";
import type { PanelBlock } from "../../lib/schema";
import { kindNamed } from "../../panels/panel";
import { ReportBody, useShown } from "./body";
import type { Editing } from "./editing";

export interface PreviewProps {
  editing: Editing;
  /** The line of the caret: what stands there is kept in view. */
  line: ReadonlySignal<number>;
  onEdit(block: PanelBlock): void;
  onShow(block: PanelBlock): void;
  onRemove(block: PanelBlock): void;
  onMove(block: PanelBlock, before: number): void;
}

export function Preview({ editing, line, onEdit, onShow, onRemove, onMove }: PreviewProps) {
  const shown = useShown(editing.blocks.value);
  const scroller = useRef<HTMLDivElement>(null);
  const [dragged, setDragged] = useState<PanelBlock | null>(null);
  const [target, setTarget] = useState(-1);
  useEffect(() => keepInView(scroller.current, shown, line.value), [line.value, shown]);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    if (dragged && target >= 0) onMove(dragged, target);
    setDragged(null);
    setTarget(-1);
  };
  const around = (block: PanelBlock, at: number, panel: ComponentChildren) => (
    <Frame
      block={block}
      moving={dragged?.line === block.line}
      onDrag={setDragged}
      onEdit={() => onEdit(block)}
      onShow={() => onShow(block)}
      onRemove={() => onRemove(block)}
      onUp={at > 0 ? () => onMove(block, shown[at - 1]?.block.line ?? 0) : undefined}
      onDown={at < shown.length - 1 ? () => onMove(block, shown[at + 1]?.block.end ?? 0) : undefined}
    >
      {panel}
    </Frame>
  );
  return (
    <div
      ref={scroller}
      class="fill-down anchor scroll report-preview report-area"
      role="region"
      aria-label="Preview"
      tabIndex={0}
      aria-busy={editing.previewing.value}
      data-dragging={dragged ? true : undefined}
      onDragOver={(event) => {
        if (!dragged || !scroller.current) return;
        event.preventDefault();
        setTarget(lineUnder(scroller.current, shown, event.clientY));
      }}
      onDrop={drop}
    >
      <article class="report" data-compact>
        {beginsWithTitle(shown) || !editing.title.value ? null : (
          <h1 class="report-title isolate">{visibleText(editing.title.value)}</h1>
        )}
        <ReportBody shown={shown} around={around} />
        {shown.length === 0 && !editing.previewing.value ? <p class="quiet report-text">Nothing written yet.</p> : null}
      </article>
      {dragged ? <DropMark scroller={scroller.current} shown={shown} line={target} /> : null}
    </div>
  );
}

interface FrameProps {
  block: PanelBlock;
  moving: boolean;
  onDrag(block: PanelBlock | null): void;
  onEdit(): void;
  onShow(): void;
  onRemove(): void;
  onUp?: (() => void) | undefined;
  onDown?: (() => void) | undefined;
  children?: ComponentChildren;
}

function Frame({ block, moving, onDrag, onEdit, onShow, onRemove, onUp, onDown, children }: FrameProps) {
  const title = kindNamed(block.panel)?.title ?? block.panel;
  return (
    <div class="report-frame" data-moving={moving || undefined}>
      <div
        class="hstack small quiet report-frame-tools"
        role="group"
        aria-label={`${visibleText(title)} in line ${block.line + 1}`}
      >
        <span
          class="report-drag"
          draggable
          title="Drag to another place"
          aria-hidden="true"
          onDragStart={(event) => {
            event.dataTransfer?.setData("text/plain", "");
            if (event.dataTransfer) event.dataTransfer.effectAllowed = "move";
            onDrag(block);
          }}
          onDragEnd={() => onDrag(null)}
        >
          <DragIcon size={14} />
        </span>
        <button type="button" class="link" title="Show in the text" onClick={onShow}>
          {visibleText(title)}
        </button>
        <span class="spring" />
        <IconButton label="Move up" disabled={!onUp} onClick={onUp}>
          <ArrowUpIcon size={12} />
        </IconButton>
        <IconButton label="Move down" disabled={!onDown} onClick={onDown}>
          <ArrowDownIcon size={12} />
        </IconButton>
        <IconButton label="Edit its options" onClick={onEdit}>
          <PencilIcon size={13} />
        </IconButton>
        <IconButton label="Remove" onClick={onRemove}>
          <CloseIcon size={12} />
        </IconButton>
      </div>
      {children}
    </div>
  );
}

/** The elements of the blocks, in order; the title above them is none. */
function blockElements(scroller: HTMLElement): HTMLElement[] {
  return [...scroller.querySelectorAll<HTMLElement>(".report > .report-text, .report > .report-place")];
}

/**
 * Before which line something dropped here would go. Inside a text, between its paragraphs is not known: before or
 * after it.
 */
function lineUnder(scroller: HTMLElement, shown: readonly Shown[], y: number): number {
  const elements = blockElements(scroller);
  for (const [at, element] of elements.entries()) {
    const { top, height } = element.getBoundingClientRect();
    if (y < top + height / 2) return shown[at]?.block.line ?? 0;
  }
  return shown.at(-1)?.block.end ?? 0;
}

function DropMark({ scroller, shown, line }: { scroller: HTMLElement | null; shown: readonly Shown[]; line: number }) {
  if (!scroller || line < 0) return null;
  const elements = blockElements(scroller);
  const at = shown.findIndex((one) => one.block.line === line);
  const near = elements[at] ?? elements.at(-1);
  if (!near) return null;
  const box = near.getBoundingClientRect();
  const top = (at < 0 ? box.bottom : box.top) - scroller.getBoundingClientRect().top + scroller.scrollTop;
  return <div class="report-drop" style={{ top: `${top}px` }} aria-hidden="true" />;
}

/** Scrolls just so far that the block with the caret can be seen. */
function keepInView(scroller: HTMLElement | null, shown: readonly Shown[], line: number): void {
  if (!scroller || scroller.matches(":hover, :focus-within")) return;
  const at = shown.findIndex((one) => one.block.line <= line && line < one.block.end);
  const element = blockElements(scroller)[at];
  if (!element) return;
  const [inner, outer] = [element.getBoundingClientRect(), scroller.getBoundingClientRect()];
  const block = shown[at]?.block;
  const share = block && block.end > block.line ? (line - block.line) / (block.end - block.line) : 0;
  const wanted = inner.top + inner.height * share;
  if (wanted < outer.top + 40 || wanted > outer.bottom - 80)
    scroller.scrollTop += wanted - outer.top - outer.height / 3;
}
