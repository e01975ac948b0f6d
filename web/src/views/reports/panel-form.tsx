/** A form for a panel's options, with the panel itself below it as it would stand in the report. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { Button, Dialog, Select, TextInput } from "../../components";
import { call, isAbort } from "../../lib/api";
import { type Options, panelText } from "../../lib/report-text";
import type { PanelBlock, PanelInfo } from "../../lib/schema";
import type { PanelKind } from "../../panels/panel";
import { ReportPanel, useShown } from "./body";
import { FieldRow } from "./panel-fields";

export interface PanelFormProps {
  kind: PanelKind;
  options: Options;
  /** The report's front matter, so that the panel finds the runs that it would find there. */
  front: string;
  /** Runs for a report that names none. */
  runs: readonly string[];
  isNew: boolean;
  onDone(text: string): void;
  onClose(): void;
}

type Bound = "report" | "runs" | "query";
const BINDINGS: readonly { value: Bound; label: string }[] = [
  { value: "report", label: "The runs of the report" },
  { value: "query", label: "All runs that match a query" },
  { value: "runs", label: "These runs" },
];

const TRY_REST_MS = 350;

export function PanelForm({ kind, options: begin, front, runs, isNew, onDone, onClose }: PanelFormProps) {
  const [options, setOptions] = useState<Options>(begin);
  const [bound, setBound] = useState<Bound>(begin.runs ? "runs" : begin.query ? "query" : "report");
  const set = (name: string, value: unknown) => setOptions((old) => ({ ...old, [name]: value }));
  const wanted = useMemo(
    () => ({
      ...options,
      runs: bound === "runs" ? options.runs : undefined,
      query: bound === "query" ? options.query : undefined,
    }),
    [options, bound],
  );
  const text = panelText(kind.kind, wanted);
  // The second block tells the runs even while the first is not complete: names are completed from them.
  const { block, found, fault } = useTried(
    `${front}${text}\n\n${panelText("table", { runs: wanted.runs, query: wanted.query })}\n`,
    runs,
  );
  const logged = useLogged(found);
  const missing = kind.fields.find((field) => field.required && !filled(options[field.name]));
  return (
    <Dialog title={isNew ? `Add ${article(kind.title)}` : kind.title} onClose={onClose} wide>
      <form
        class="vstack gap-4 panel-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!missing) onDone(text);
        }}
      >
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
          {kind.needs === 0 ? null : (
            <div class="panel-form-row">
              <span>Runs</span>
              <span class="hstack wraps gap-2 panel-form-value">
                <Select label="Runs" value={bound as Bound} options={BINDINGS} onChange={(value) => setBound(value)} />
                {bound === "report" ? null : (
                  <TextInput
                    label={bound === "query" ? "Query" : "Names or ids, comma-separated"}
                    placeholder={
                      bound === "query" ? 'project = "vae" and loss.min < 0.3' : "names or ids, comma-separated"
                    }
                    value={String(options[bound] ?? "")}
                    onInput={(value) => set(bound, value)}
                  />
                )}
              </span>
            </div>
          )}
          <FieldRow
            field={{ name: "title", label: "Title", type: "text" }}
            value={options.title}
            logged={logged}
            onValue={(value) => set("title", value)}
          />
          <FieldRow
            field={{ name: "caption", label: "Caption", type: "text" }}
            value={options.caption}
            logged={logged}
            onValue={(value) => set("caption", value)}
          />
        </div>
        <div class="scroll framed subtle panel-form-preview" aria-live="polite">
          {missing ? (
            <p class="quiet">{`Choose ${missing.label.toLowerCase()} to see the panel.`}</p>
          ) : fault ? (
            <p role="alert">{String((fault as Error).message ?? fault)}</p>
          ) : block ? (
            <TriedPanel block={block} />
          ) : null}
        </div>
        <footer class="panel-form-foot">
          <span class="spring" />
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={missing !== undefined}>
            {isNew ? "Insert" : "Change"}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** The panel keeps its place and its objects while the form changes, so that it is not built anew with every key. */
function TriedPanel({ block }: { block: PanelBlock }) {
  const [shown] = useShown(useMemo(() => [block], [block]));
  return shown?.kind === "panel" ? <ReportPanel key={shown.key + block.panel} block={shown.block} /> : null;
}

const filled = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && String(value).trim() !== "";
const article = (title: string): string => `${/^[aeiou]/i.test(title) ? "an" : "a"} ${title.toLowerCase()}`;

interface Tried {
  block: PanelBlock | null;
  /** The runs that it is bound to. */
  found: readonly string[];
  fault: unknown;
}

/** The panel as the server reads it, a moment after the last change. */
function useTried(text: string, runs: readonly string[]): Tried {
  const [state, setState] = useState<Tried>({ block: null, found: [], fault: null });
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const answer = await call("POST /api/report/preview", { text, runs: [...runs] }, { signal: stop.signal });
        const [block, table] = answer.blocks.filter((one) => one.kind === "panel");
        setState({ block: block ?? null, found: table?.runs.map((run) => run.id) ?? [], fault: null });
      } catch (fault) {
        if (!isAbort(fault)) setState((old) => ({ ...old, fault }));
      }
    }, TRY_REST_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, runs.join()]);
  return state;
}

/** What the runs have logged, to complete names from. */
function useLogged(runs: readonly string[]): readonly PanelInfo[] {
  const [logged, setLogged] = useState<readonly PanelInfo[]>([]);
  const ids = runs.join();
  useEffect(() => {
    if (!ids) return;
    const stop = new AbortController();
    call("POST /api/panels", { runs: ids.split(",") }, { signal: stop.signal }).then(
      (answer) => setLogged(answer.panels),
      () => undefined, // Names are then typed by hand; the preview says if one is wrong.
    );
    return () => stop.abort();
  }, [ids]);
  return logged;
}
