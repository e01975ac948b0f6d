/** Adds a panel or changes one: first its kind, then its options, with the panel itself beside them. */

import { useState } from "preact/hooks";
import { Button, Dialog } from "../../components";
import { ChevronLeftIcon } from "../../components/icons";
import { addPanel, changePanel, type Options, type OwnPanel } from "../../lib/workspace";
import type { PanelInfo } from "../../lib/schema";
import { type Field, kindNamed, type PanelKind, PANELS } from "../../panels/panel";
import "../../style/report-dialogs.css";
import "../../style/report-panels.css";
import { useScope } from "../charts/scope";
import { FieldRow, offered } from "../reports/panel-fields";
import { FormulaProblem } from "./formula-check";
import { OwnBody } from "./own-panel";
import { change, editing } from "./space";

/** Kinds that the page itself or another kind draws better. */
const ELSEWHERE: ReadonlySet<string> = new Set(["chart", "band", "bars"]);
/** Kinds that want another height than a line does. */
const HEIGHTS: Readonly<Record<string, number>> = {
  note: 160,
  scatter: 420,
  parallel: 420,
  graph: 460,
  profile: 460,
  changed: 400,
  console: 320,
};
const KINDS = PANELS.filter((kind) => !ELSEWHERE.has(kind.kind));
const close = (): void => void (editing.value = null);

export function PanelDialog({ section, panel }: { section: string | null; panel: OwnPanel | null }) {
  const [kind, setKind] = useState<PanelKind | null>(panel ? kindNamed(panel.kind) : null);
  if (!kind) return <KindChoice onPick={setKind} />;
  return <PanelOptions kind={kind} section={section} panel={panel} onBack={panel ? null : () => setKind(null)} />;
}

function KindChoice({ onPick }: { onPick(kind: PanelKind): void }) {
  return (
    <Dialog title="Add a panel" onClose={close} wide>
      <ul class="kind-choice">
        {KINDS.map((kind, at) => (
          <li key={kind.kind}>
            <button type="button" data-first={at === 0 || undefined} onClick={() => onPick(kind)}>
              <strong>{kind.title}</strong>
              <span>{kind.hint}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** What a new panel begins with: its own example, and the first that was logged where there is little to choose from. */
function beginning(kind: PanelKind, logged: readonly PanelInfo[]): Options {
  const named = kind.fields.flatMap((field) => {
    const first = field.required && isMedia(field.type) ? offered(field.type, logged)[0] : undefined;
    return first === undefined ? [] : [[field.name, first] as const];
  });
  return { ...kind.example, ...Object.fromEntries(named) };
}

const isMedia = (type: Field["type"]): boolean => type === "media" || type === "histogram";

interface PanelOptionsProps {
  kind: PanelKind;
  section: string | null;
  panel: OwnPanel | null;
  onBack: (() => void) | null;
}

function PanelOptions({ kind, section, panel, onBack }: PanelOptionsProps) {
  const scope = useScope();
  const [options, setOptions] = useState<Options>(panel?.options ?? beginning(kind, scope.panels.peek() ?? []));
  const logged = scope.panels.value ?? [];
  const set = (name: string, value: unknown) => setOptions((old) => ({ ...old, [name]: value }));
  const missing = kind.fields.find((field) => field.required && !filled(options[field.name]));
  const kept = Object.fromEntries(Object.entries(options).filter(([, value]) => filled(value)));
  const save = (event: Event) => {
    event.preventDefault();
    if (missing) return;
    if (panel) change((now) => changePanel(now, panel.id, kind.kind, kept));
    else
      change((now) =>
        addPanel(
          now,
          { kind: kind.kind, options: kept, ...(HEIGHTS[kind.kind] ? { h: HEIGHTS[kind.kind] } : {}) },
          section === null ? null : { section, before: null },
        ),
      );
    close();
  };
  return (
    <Dialog title={panel ? kind.title : `Add: ${kind.title}`} onClose={close} wide>
      <form class="vstack gap-4 panel-form" onSubmit={save}>
        <p class="quiet">{kind.hint}</p>
        <div class="panel-form-fields">
          {kind.fields.map((field) => (
            <FieldRow
              key={field.name}
              field={field}
              value={options[field.name]}
              logged={logged}
              onValue={(value) => set(field.name, value)}
            />
          ))}
          <FieldRow
            field={{ name: "title", label: "Title", type: "text" }}
            value={options.title}
            logged={logged}
            onValue={(value) => set("title", value)}
          />
        </div>
        <FormulaProblem options={kept} runs={scope.drawnRuns.value} />
        <div class="vstack scroll framed subtle panel-form-preview own-preview" aria-live="polite">
          {missing ? (
            <p class="quiet">{`Choose ${missing.label.toLowerCase()} to see the panel.`}</p>
          ) : (
            <OwnBody key={JSON.stringify(kept)} panel={{ id: "preview", kind: kind.kind, options: kept }} />
          )}
        </div>
        <footer class="panel-form-foot">
          {onBack ? (
            <Button kind="quiet" onClick={onBack}>
              <ChevronLeftIcon size={14} /> Other kinds
            </Button>
          ) : null}
          <span class="spring" />
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={missing !== undefined}>
            {panel ? "Change" : "Add panel"}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

const filled = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : value !== undefined && value !== null && value !== false && String(value).trim() !== "";
