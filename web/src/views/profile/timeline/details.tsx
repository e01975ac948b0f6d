/** All that is known of the chosen event. */

import type { ComponentChildren } from "preact";
import { Button, IconButton } from "../../../components";
import { CloseIcon } from "../../../components/icons";
import { count, visibleText } from "../../../lib/format";
import { formatNs } from "../../../lib/profile-format";
import type { Arrow, PickedEvent, Spot } from "../../../lib/schema";
import { preciseNs } from "../../../lib/timeline-ruler";
import type { TimelineState } from "./state";

const HIDDEN = new Set(["Input Dims", "Input type", "Call stack", "Module Hierarchy"]);
const RELATIONS: Record<Arrow["relation"], string> = {
  launches: "Launches on the device",
  "launched by": "Launched by",
  backward: "Its backward",
  forward: "Its forward",
};

export function Details({ state }: { state: TimelineState }) {
  const chosen = state.chosen.value;
  if (!chosen) return null;
  const { event, source } = chosen;
  const offset = state.sources.value[source]?.offset ?? 0;
  const go = (spot: Spot) => void state.choose(source, spot.event, true);
  return (
    <section class="vstack rigid timeline-panel" aria-label="The selected event">
      <header>
        <h2 class="isolate">{visibleText(event.at.name)}</h2>
        <span class="spring" />
        <Button kind="quiet" onClick={() => state.show(source, event.at, true)}>
          Zoom to it
        </Button>
        <Button
          kind="quiet"
          onClick={() =>
            void state.select([offset + event.at.start_ns, offset + event.at.start_ns + Math.max(1, event.at.dur_ns)])
          }
        >
          Statistics of its time
        </Button>
        <IconButton label="Close (Esc)" onClick={() => state.unchoose()}>
          <CloseIcon />
        </IconButton>
      </header>
      <div class="fill-down scroll timeline-columns">
        <Facts event={event} offset={offset - state.zero.value} />
        <Shapes event={event} />
        <Inside event={event} onGo={go} />
        <Arrows event={event} onGo={go} />
        <Frames event={event} />
        <Arguments event={event} />
      </div>
    </section>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="scroll small timeline-part">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

function Facts({ event, offset }: { event: PickedEvent; offset: number }) {
  const facts: [string, string, string][] = [
    ["Duration", event.at.dur_ns > 0 ? preciseNs(event.at.dur_ns) : "an instant", "From its beginning to its end"],
    ["Own time", preciseNs(event.self_ns), "Without the events directly inside it"],
    ["Begins", preciseNs(offset + event.at.start_ns), "From the beginning of the trace"],
    [
      "Kind",
      event.kind === event.category ? event.kind : `${event.kind} (${event.category || "no category"})`,
      "What it is, and the trace's word for it",
    ],
    ["Step", event.step === null ? "–" : String(event.step), "The training step it belongs to"],
    ["Inside it", count(event.children, "event"), "Directly inside, one level deeper"],
    ["Module", event.module || "–", "The module whose forward it is part of"],
  ];
  return (
    <Part title="Event">
      <dl>
        {facts.map(([name, value, help]) => (
          <div key={name} title={help}>
            <dt>{name}</dt>
            <dd class="isolate">{visibleText(value)}</dd>
          </div>
        ))}
      </dl>
    </Part>
  );
}

function Shapes({ event }: { event: PickedEvent }) {
  if (event.shapes.length === 0) return null;
  return (
    <Part title="Inputs">
      <ol class="timeline-shapes">
        {event.shapes.map((shape, at) => (
          <li key={at}>
            <code>{visibleText(shape)}</code> <span class="quiet isolate">{visibleText(event.dtypes[at] ?? "")}</span>
          </li>
        ))}
      </ol>
    </Part>
  );
}

function Inside({ event, onGo }: { event: PickedEvent; onGo(spot: Spot): void }) {
  if (event.inside.length === 0) return null;
  return (
    <Part title="Inside of">
      <Spots spots={[...event.inside].reverse()} onGo={onGo} />
    </Part>
  );
}

function Arrows({ event, onGo }: { event: PickedEvent; onGo(spot: Spot): void }) {
  const relations = [...new Set(event.arrows.map((arrow) => arrow.relation))];
  return (
    <>
      {relations.map((relation) => {
        const spots = event.arrows.filter((arrow) => arrow.relation === relation).map((arrow) => arrow.to);
        return (
          <Part
            key={relation}
            title={`${RELATIONS[relation]}${spots.length > 1 ? ` (${spots.length}${event.arrows_omitted ? ` of ${spots.length + event.arrows_omitted}` : ""})` : ""}`}
          >
            <Spots spots={spots} onGo={onGo} />
          </Part>
        );
      })}
    </>
  );
}

function Spots({ spots, onGo }: { spots: readonly Spot[]; onGo(spot: Spot): void }) {
  return (
    <ul class="timeline-spots">
      {spots.slice(0, 100).map((spot) => (
        <li key={spot.event}>
          <button
            type="button"
            class="gap-2 apart full to-left timeline-spot"
            title={visibleText(spot.name)}
            onClick={() => onGo(spot)}
          >
            <span class="ellipsis isolate">{visibleText(spot.name)}</span>
            <span class="quiet">{formatNs(spot.dur_ns)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Frames({ event }: { event: PickedEvent }) {
  if (event.stack.length === 0) return null;
  return (
    <Part title="Python stack">
      <ol class="timeline-stack">
        {event.stack.map((frame, at) => (
          <li key={at} class="isolate">
            {visibleText(frame)}
          </li>
        ))}
      </ol>
    </Part>
  );
}

function Arguments({ event }: { event: PickedEvent }) {
  const shown = event.arguments.filter((one) => !HIDDEN.has(one.name));
  if (shown.length === 0) return null;
  return (
    <Part title="Arguments">
      <dl>
        {shown.map((one) => (
          <div key={one.name}>
            <dt class="isolate">{visibleText(one.name)}</dt>
            <dd class="isolate">{visibleText(one.value)}</dd>
          </div>
        ))}
      </dl>
    </Part>
  );
}
