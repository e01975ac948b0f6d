/** Above the lines: what to look for, which lines, how they are shown. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Button, IconButton, Menu, type MenuItem, Select, TextInput } from "../../../components";
import {
  ArrowDownIcon,
  ArrowUpIcon,
  DownloadIcon,
  SearchIcon,
  SettingsIcon,
  WarningIcon,
} from "../../../components/icons";
import { Segments } from "../../../components/segments";
import { addressOf } from "../../../lib/api";
import { count, visibleText } from "../../../lib/format";
import type { ConsoleError, ConsoleWindow, RunDetail } from "../../../lib/schema";
import * as settings from "./settings";
import type { ConsoleView } from "./view";

const REST_MS = 180;

export function ConsoleBar({ run, view }: { run: RunDetail; view: ConsoleView }) {
  const info = view.lines.info.value;
  return (
    <div class="bar" role="toolbar" aria-label="Console">
      <Find view={view} />
      {(info?.streams.length ?? 0) > 1 || settings.stream.value ? (
        <Segments
          label="Streams"
          value={settings.stream.value}
          options={[
            { value: "", label: "All" },
            { value: "stdout", label: "stdout" },
            { value: "stderr", label: "stderr" },
          ]}
          onChange={(value) => (settings.stream.value = value)}
        />
      ) : null}
      <Ranks info={info} />
      <Errors view={view} info={info} />
      <span class="spring" />
      <Count info={info} />
      <Shown info={info} />
      <Download run={run} />
    </div>
  );
}

/** The search rests a little before the server is asked; Enter goes on to the next match. */
function Find({ view }: { view: ConsoleView }) {
  const [draft, setDraft] = useState(settings.search.value);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const shown = settings.search.value;
  useEffect(() => setDraft(shown), [shown]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (text: string) => {
    clearTimeout(timer.current);
    settings.search.value = text;
  };
  const onInput = (text: string) => {
    setDraft(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => apply(text), REST_MS);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && draft) event.stopPropagation(), setDraft(""), apply("");
    else if (event.key === "Escape") (event.currentTarget as HTMLElement).blur();
    if (event.key !== "Enter") return;
    if (draft !== settings.search.peek()) apply(draft);
    else void view.goToMatch(event.shiftKey ? "previous" : "next");
  };
  const bad = view.lines.badSearch.value;
  return (
    <span class="inline con-find">
      <TextInput
        class="con-search"
        label="Find in the console"
        placeholder="Find"
        title="Find in the console (/)"
        icon={<SearchIcon size={12} />}
        value={draft}
        bad={bad !== null}
        onInput={onInput}
        onKeyDown={onKeyDown}
      />
      <button
        type="button"
        class="con-regex mono"
        aria-pressed={settings.regex.value}
        aria-label="Regular expression"
        title="Regular expression"
        onClick={() => (settings.regex.value = !settings.regex.value)}
      >
        .*
      </button>
      {shown ? <Matches view={view} bad={bad?.message ?? ""} /> : null}
    </span>
  );
}

function Matches({ view, bad }: { view: ConsoleView; bad: string }) {
  const info = view.lines.info.value;
  if (bad)
    return (
      <span class="small bad isolate con-bad" role="alert">
        {visibleText(bad.split("\n")[0] ?? "")}
      </span>
    );
  const found = info?.matches ?? 0;
  const looking = info !== null && info.searched < info.total;
  const nth = view.match.value?.nth;
  const words =
    found === 0
      ? looking
        ? "…"
        : "none"
      : nth
        ? `${nth.toLocaleString("en-US")} of ${found.toLocaleString("en-US")}`
        : found.toLocaleString("en-US");
  return (
    <>
      <span class="soft small one-line con-matches" role="status" title={looking ? "Still looking" : undefined}>
        {words}
        {looking ? "+" : ""}
      </span>
      <IconButton label="Previous match (N)" disabled={found === 0} onClick={() => void view.goToMatch("previous")}>
        <ArrowUpIcon size={14} />
      </IconButton>
      <IconButton label="Next match (n)" disabled={found === 0} onClick={() => void view.goToMatch("next")}>
        <ArrowDownIcon size={14} />
      </IconButton>
      <Button
        kind="quiet"
        aria-pressed={settings.only.value}
        class="con-only"
        title="Only lines that match (m)"
        onClick={() => (settings.only.value = !settings.only.value)}
      >
        Only matches
      </Button>
    </>
  );
}

function Ranks({ info }: { info: ConsoleWindow | null }) {
  if ((info?.ranks.length ?? 0) < 2) return null;
  const options = [
    { value: "", label: "All ranks" },
    ...(info?.ranks ?? []).map((rank) => ({ value: String(rank), label: `Rank ${rank}` })),
  ];
  return (
    <Select
      label="Rank"
      value={settings.rank.value}
      options={options}
      onChange={(value) => (settings.rank.value = value)}
    />
  );
}

function Errors({ view, info }: { view: ConsoleView; info: ConsoleWindow | null }) {
  const errors = info?.errors ?? [];
  const last = errors[errors.length - 1];
  if (!last) return null;
  const go = (error: ConsoleError) => void goToError(view, error);
  const button = (
    <>
      <WarningIcon size={14} />{" "}
      <span>{errors.length > 1 ? count(info?.error_count ?? 0, "error") : "Go to the error"}</span>
    </>
  );
  if (errors.length === 1) {
    return (
      <Button kind="quiet" class="con-error" title={`${visibleText(last.text)} (e)`} onClick={() => go(last)}>
        {button}
      </Button>
    );
  }
  const items: MenuItem[] = [...errors]
    .reverse()
    .slice(0, 30)
    .map((error, at) => ({
      key: String(error.last),
      label: <span class="isolate">{visibleText(error.text).slice(0, 90)}</span>,
      hint: at === 0 ? "last" : `line ${(error.last + 1).toLocaleString("en-US")}`,
      onPick: () => go(error),
    }));
  return <Menu label="Errors" button={button} buttonClass="button button-quiet con-error" items={items} />;
}

/** Filters that would hide it make way. */
export async function goToError(view: ConsoleView, error: ConsoleError): Promise<void> {
  if (settings.only.peek()) settings.only.value = false;
  if (settings.stream.peek() === "stdout") settings.stream.value = "";
  if (settings.rank.peek() !== "" && settings.rank.peek() !== String(error.rank)) settings.rank.value = "";
  await Promise.resolve();
  await view.goToNumber("line", error.last);
}

function Count({ info }: { info: ConsoleWindow | null }) {
  if (!info) return null;
  const seen = info.total - (settings.rewrites.value ? 0 : info.rewritten);
  const words =
    info.rows === seen ? count(seen, "line") : `${info.rows.toLocaleString("en-US")} of ${count(seen, "line")}`;
  return <span class="small one-line quiet con-count">{words}</span>;
}

function Shown({ info }: { info: ConsoleWindow | null }) {
  const { wrap, rewrites, stamps } = settings;
  const stamp = (value: settings.Stamps, label: string): MenuItem => ({
    key: value,
    label,
    checked: stamps.value === value,
    onPick: () => (stamps.value = value),
  });
  const items: MenuItem[] = [
    stamp("none", "No times"),
    stamp("clock", "Time of day"),
    stamp("since", "Time since the start"),
    { key: "wrap", label: "Wrap long lines", checked: wrap.value, hint: "w", onPick: () => (wrap.value = !wrap.value) },
    {
      key: "forms",
      label: "All updates of progress bars",
      checked: rewrites.value,
      hint: info?.rewritten ? `${info.rewritten.toLocaleString("en-US")} more` : "",
      onPick: () => (rewrites.value = !rewrites.value),
    },
  ];
  return (
    <Menu
      label="How lines are shown"
      button={<SettingsIcon size={14} />}
      buttonClass="icon-button"
      align="end"
      items={items}
    />
  );
}

function Download({ run }: { run: RunDetail }) {
  const save = (colours: boolean) => () => {
    const { rank, stream, rewrites } = settings.filters.peek();
    const link = document.createElement("a");
    link.href = addressOf("/api/console/text/{run}", { run: run.id, rank, stream, rewrites, colours });
    link.download = "";
    link.click();
  };
  const items: MenuItem[] = [
    { key: "plain", label: "Plain text", onPick: save(false) },
    { key: "colours", label: "With colors", hint: "less -R", onPick: save(true) },
  ];
  return (
    <Menu
      label="Download the console"
      button={<DownloadIcon size={14} />}
      buttonClass="icon-button"
      align="end"
      items={items}
    />
  );
}
