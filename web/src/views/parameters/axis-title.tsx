/**
 * An axis's name: drag it to move the axis, click it for exact ranges, the scale, and more. All of it with the keyboard
 * too.
 */

import { useRef, useState } from "preact/hooks";
import { Button, Checkbox, Popover, TextInput, Toggle } from "../../components";
import { visibleText } from "../../lib/format";
import { NO_BRUSH } from "../../lib/param-brush";
import { canLog } from "../../lib/param-scale";
import type { ParamColumn } from "../../lib/param-table";
import type { ParamScope } from "./scope";

const STILL_PX = 5;
const MOST_NAMES = 60;

export interface AxisTitleProps {
  scope: ParamScope;
  column: ParamColumn;
  x: number;
  width: number;
  strong: boolean;
  /** Let go at this place, in pixels from the left of the plot. */
  onDrop(x: number): void;
  onMove(by: number): void;
}

export function AxisTitle({ scope, column, x, width, strong, onDrop, onMove }: AxisTitleProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [by, setBy] = useState(0);
  const [open, setOpen] = useState(false);
  const from = useRef<number | null>(null);
  const onUp = () => {
    const moved = Math.abs(by) > STILL_PX;
    from.current = null;
    if (moved) onDrop(x + by);
    else setOpen(!open);
    setBy(0);
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="gap-1 centered small strong axis-title"
        data-strong={strong || undefined}
        data-dragging={by !== 0 || undefined}
        style={{ left: `${x + by - width / 2}px`, width: `${width}px` }}
        title={`${visibleText(column.label)}: drag to move, click for more`}
        aria-haspopup="dialog"
        aria-expanded={open}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          from.current = event.clientX;
        }}
        onPointerMove={(event) => from.current !== null && setBy(event.clientX - from.current)}
        onPointerUp={onUp}
        onKeyDown={(event) => {
          if (event.key === "Enter" || event.key === " ") event.preventDefault(), setOpen(!open);
          else if (event.key === "ArrowLeft" || event.key === "ArrowRight")
            event.preventDefault(), onMove(event.key === "ArrowLeft" ? -1 : 1);
        }}
      >
        <span class="isolate">{visibleText(column.label)}</span>
        {scope.isLog(column) ? <small>log</small> : null}
      </button>
      {open ? (
        <Popover
          anchor={button.current}
          label={`Axis ${visibleText(column.label)}`}
          onClose={() => setOpen(false)}
          class="axis-popover"
        >
          <AxisMenu scope={scope} column={column} onClose={() => setOpen(false)} onMove={onMove} />
        </Popover>
      ) : null}
    </>
  );
}

function AxisMenu({
  scope,
  column,
  onClose,
  onMove,
}: {
  scope: ParamScope;
  column: ParamColumn;
  onClose(): void;
  onMove(by: number): void;
}) {
  const brush = scope.brushOf(column.key);
  const hide = () => {
    const left = scope.axes.peek().filter((other) => other !== column);
    if (left.length > 0) scope.setAxes(left.map((other) => other.key));
    onClose();
  };
  return (
    <div class="vstack gap-2 axis-menu">
      <h3 class="isolate">{visibleText(column.label)}</h3>
      {column.kind === "number" ? (
        <RangeFields scope={scope} column={column} />
      ) : (
        <NameBoxes scope={scope} column={column} />
      )}
      {column.missing > 0 ? (
        <Checkbox
          visible
          label={`not set (${column.missing})`}
          checked={brush.missing}
          onChange={(missing) => scope.brush(column.key, { ...brush, missing })}
        />
      ) : null}
      {column.broken > 0 ? (
        <Checkbox
          visible
          label={`NaN or ∞ (${column.broken})`}
          checked={brush.broken}
          onChange={(broken) => scope.brush(column.key, { ...brush, broken })}
        />
      ) : null}
      {canLog(column) ? (
        <Toggle checked={scope.isLog(column)} label="Log scale" onChange={() => scope.flip(column)} />
      ) : null}
      <div class="axis-buttons">
        <Button kind="quiet" onClick={() => onMove(-1)}>
          ← Move
        </Button>
        <Button kind="quiet" onClick={() => onMove(1)}>
          Move →
        </Button>
        <Button kind="quiet" onClick={() => scope.brush(column.key, NO_BRUSH)}>
          Clear
        </Button>
        <Button kind="quiet" onClick={hide}>
          Hide
        </Button>
      </div>
    </div>
  );
}

/** The outer ends of what is brushed, to be typed. */
function RangeFields({ scope, column }: { scope: ParamScope; column: ParamColumn }) {
  const brush = scope.brushOf(column.key);
  const low = brush.ranges[0]?.[0];
  const high = brush.ranges[brush.ranges.length - 1]?.[1];
  const set = (from: number | undefined, to: number | undefined) => {
    const range = [from ?? column.low, to ?? column.high] as const;
    scope.brush(column.key, {
      ...brush,
      ranges: from === undefined && to === undefined ? [] : [[Math.min(...range), Math.max(...range)]],
    });
  };
  const read = (text: string): number | undefined =>
    text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
  return (
    <div class="hstack gap-2 axis-range">
      <TextInput
        label="From"
        placeholder={String(column.low)}
        value={low === undefined ? "" : String(low)}
        onInput={() => undefined}
        onChange={(event) => set(read(event.currentTarget.value), high)}
      />
      <span class="quiet">to</span>
      <TextInput
        label="To"
        placeholder={String(column.high)}
        value={high === undefined ? "" : String(high)}
        onInput={() => undefined}
        onChange={(event) => set(low, read(event.currentTarget.value))}
      />
    </div>
  );
}

function NameBoxes({ scope, column }: { scope: ParamScope; column: ParamColumn }) {
  const brush = scope.brushOf(column.key);
  const toggle = (name: string, on: boolean) =>
    scope.brush(column.key, {
      ...brush,
      names: on ? [...brush.names, name] : brush.names.filter((other) => other !== name),
    });
  return (
    <div class="vstack gap-1 axis-names">
      {column.names.slice(0, MOST_NAMES).map((name) => (
        <Checkbox
          key={name}
          visible
          label={visibleText(name)}
          checked={brush.names.includes(name)}
          onChange={(on) => toggle(name, on)}
        />
      ))}
    </div>
  );
}
