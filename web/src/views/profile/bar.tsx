/** Which run, which profile, which rank; what it is, in a line; and the button that asks a run for another. */

import { useEffect, useState } from "preact/hooks";
import { Button, Select, toast } from "../../components";
import { now } from "../../clock";
import { call } from "../../lib/api";
import { count, formatAge, formatBytes, formatTime, visibleText } from "../../lib/format";
import { cut } from "../../lib/graph-words";
import type { ShownProfile } from "../../lib/schema";
import { nameOf } from "../../state";
import * as data from "./data";
import { ProfileExport } from "./export";

export function ProfileBar({ alone = false }: { alone?: boolean }) {
  const listed = data.listed.value;
  const chosen = data.chosen.value;
  const shown = listed?.run ?? "";
  const ids = [...new Set([...(shown ? [shown] : []), ...(data.runs.value ?? [])])];
  const profiles = [...(listed?.found.profiles ?? [])].reverse();
  const ranks = chosen?.ranks ?? [];
  if (listed && !shown && !alone) return null;
  return (
    <div class="bar profile-bar" role="toolbar" aria-label="Profile">
      {ids.length > 0 && !alone ? (
        <Select
          label="Run"
          value={shown}
          options={ids.map((id) => ({ value: id, label: cut(nameOf(id)) }))}
          onChange={(id) => ((data.profile.value = ""), (data.rank.value = -1), (data.run.value = id))}
        />
      ) : null}
      {profiles.length > 0 ? (
        <Select
          label="Profile"
          value={chosen?.id ?? ""}
          options={profiles.map((one) => ({ value: one.id, label: labelOf(one) }))}
          onChange={(id) => ((data.rank.value = -1), (data.profile.value = id))}
        />
      ) : null}
      {ranks.length > 1 ? (
        <Select
          label="Rank"
          value={String(data.page.value?.page.rank ?? ranks[0])}
          options={ranks.map((one) => ({ value: String(one), label: `rank ${one}` }))}
          onChange={(one) => (data.rank.value = Number(one))}
        />
      ) : null}
      {chosen && !chosen.error ? <Summary profile={chosen} /> : null}
      <span class="spring" />
      <AskButton />
      {data.page.value ? <ProfileExport shown={data.page.value} /> : null}
    </div>
  );
}

const KINDS: Record<ShownProfile["kind"], string> = {
  simple: "phases",
  advanced: "Python",
  pytorch: "PyTorch",
  opened: "opened",
};

export function labelOf(one: ShownProfile): string {
  if (one.error) return `${cut(one.id)} · damaged`;
  return [stepWords(one), KINDS[one.kind]].filter(Boolean).join(" · ") || cut(one.id);
}

function stepWords({ first_step: first, last_step: last }: ShownProfile): string {
  if (first === null) return "";
  const say = (step: number) => step.toLocaleString("en-US");
  return last === null || last === first ? `step ${say(first)}` : `steps ${say(first)} to ${say(last)}`;
}

function Summary({ profile }: { profile: ShownProfile }) {
  const words = [
    profile.why,
    profile.world > 1 ? count(profile.world, "rank") : "",
    profile.host,
    profile.overhead,
    profile.bytes ? formatBytes(profile.bytes) : "",
  ];
  const title = [formatTime(profile.created), ...words, ...profile.notes].filter(Boolean).join("\n");
  const age = profile.created > 0 ? [formatAge(profile.created, now.value)] : [];
  return (
    <span class="shrinks isolate ellipsis quiet profile-summary" title={visibleText(title)}>
      {visibleText([...age, ...words.filter(Boolean)].join("  ·  "))}
    </span>
  );
}

const SILENT_S = 15;
const SILENT = "Only a script under `stepscope run` or `stepscope profile` takes requests, when its next step begins.";

/** Asks a running script to profile its next steps. */
function AskButton() {
  const listed = data.listed.value;
  const [asking, setAsking] = useState(false);
  const asked = listed?.found.waiting_s ?? null;
  useEffect(() => void (asked !== null && data.lookSoon()), [asked]);
  if (!listed?.run) return null;
  const { waiting_s: waiting, why_no_request: why } = listed.found;
  const silent = waiting !== null && waiting > SILENT_S;
  const ask = async () => {
    setAsking(true);
    try {
      await call("POST /api/profile/request", { run: listed.run });
      toast("Requested: the run will profile its next steps, and they appear here.");
      await data.loadProfiles();
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), "error");
    }
    setAsking(false);
  };
  const hint =
    why ||
    (waiting === null
      ? "Ask the running script for a profile of its next steps"
      : silent
        ? SILENT
        : "The run checks for requests about once a second.");
  return (
    <Button disabled={asking || waiting !== null || why !== ""} title={hint} onClick={() => void ask()}>
      {why || waiting === null
        ? "Profile the next steps"
        : silent
          ? "The run does not answer"
          : "Waiting for the run …"}
    </Button>
  );
}
