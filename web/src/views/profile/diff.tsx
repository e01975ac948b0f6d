/** Two profiles beside each other: what got slower, where, beyond the noise. */

import { Segments } from "../../components/segments";
import { useEffect, useState } from "preact/hooks";
import { ErrorState, Select, Skeleton } from "../../components";
import { ArrowDownIcon, ArrowUpIcon } from "../../components/icons";
import { call, isAbort } from "../../lib/api";
import { visibleText } from "../../lib/format";
import { cut } from "../../lib/graph-words";
import type { ProfileDiff, RunRow, ShownProfile } from "../../lib/schema";
import { text } from "../../lib/url";
import { param } from "../../router";
import { known, nameOf } from "../../state";
import { labelOf } from "./bar";
import * as data from "./data";
import { SheetTable } from "./sheet";
import { Notes } from "./words";

/** What the profile on the page is compared with: a run's id and a profile's; "" until one is chosen. */
const otherRun = param<string>("before", "", text);
const otherProfile = param<string>("beforeProfile", "", text);

export function DiffTab({ spot }: { spot: data.Spot }) {
  const runs = [...new Set([spot.run, ...(otherRun.value ? [otherRun.value] : []), ...(data.runs.value ?? [])])];
  const own = useProfiles(spot.run);
  const alone = own.profiles !== null && !own.profiles.some((one) => !one.error && one.id !== spot.profile);
  const neighbor = useNeighbor(alone ? spot.run : "", runs);
  const run = otherRun.value || neighbor || spot.run;
  const found = useProfiles(run);
  const usable = (found.profiles ?? []).filter((one) => !one.error && !(run === spot.run && one.id === spot.profile));
  const other = usable.find((one) => one.id === otherProfile.value) ?? bestOf(usable);
  return (
    <div class="diff">
      <div class="hstack wraps gap-2 diff-bar">
        <span>Compare with</span>
        <Select
          label="Run to compare with"
          value={run}
          options={runs.map((id) => ({
            value: id,
            label: id === spot.run ? `${cut(nameOf(id))} (this run)` : cut(nameOf(id)),
          }))}
          onChange={(id) => ((otherProfile.value = ""), (otherRun.value = id))}
        />
        {other ? (
          <Select
            label="Profile to compare with"
            value={other.id}
            options={[...usable].reverse().map((one) => ({ value: one.id, label: labelOf(one) }))}
            onChange={(id) => (otherProfile.value = id)}
          />
        ) : null}
        <span class="quiet">A is that one, B the one on this page.</span>
      </div>
      {found.fault ? <ErrorState error={found.fault} /> : null}
      {found.profiles && !other ? (
        <p class="diff-none quiet">
          {run === spot.run
            ? "This run has no other profile: choose another run."
            : "That run has no profile that can be read."}
        </p>
      ) : null}
      {other ? <Compared spot={spot} run={run} profile={other.id} /> : null}
    </div>
  );
}

/** How many runs are asked for a profile to compare with. */
const NEIGHBORS = 5;

/** Where a run has one profile only: the run nearest in time of its project that has one, as before and after a change. */
function useNeighbor(run: string, runs: readonly string[]): string {
  const [found, setFound] = useState({ run: "", neighbor: "" });
  const near = run ? nearest(run, runs).slice(0, NEIGHBORS).join() : "";
  useEffect(() => {
    const control = new AbortController();
    const look = async () => {
      for (const id of near.split(",").filter(Boolean)) {
        const { profiles } = await call("POST /api/profiles", { run: id }, { signal: control.signal });
        if (profiles.some((one) => !one.error)) return setFound({ run, neighbor: id });
      }
    };
    look().catch(() => undefined); // without one the page asks for a run
    return () => control.abort();
  }, [run, near]);
  return found.run === run ? found.neighbor : "";
}

function nearest(run: string, runs: readonly string[]): string[] {
  const here = known.value.get(run);
  const apart = (row: RunRow) => Math.abs(row.created - (here?.created ?? 0));
  return runs
    .flatMap((id) => known.value.get(id) ?? [])
    .filter((row) => row.id !== run && row.project === here?.project)
    .sort((a, b) => apart(a) - apart(b))
    .map((row) => row.id);
}

/** The newest that is more than phases; phases if there is nothing else. */
function bestOf(usable: readonly ShownProfile[]): ShownProfile | undefined {
  return [...usable].reverse().find((one) => one.kind !== "simple") ?? usable[usable.length - 1];
}

function useProfiles(run: string): { profiles: readonly ShownProfile[] | null; fault: unknown } {
  const [state, setState] = useState<{ run: string; profiles: readonly ShownProfile[] | null; fault: unknown }>({
    run: "",
    profiles: null,
    fault: null,
  });
  useEffect(() => {
    const control = new AbortController();
    call("POST /api/profiles", { run }, { signal: control.signal }).then(
      ({ profiles }) => setState({ run, profiles, fault: null }),
      (fault: unknown) => isAbort(fault) || setState({ run, profiles: null, fault }),
    );
    return () => control.abort();
  }, [run]);
  return state.run === run ? state : { profiles: null, fault: null };
}

function Compared({ spot, run, profile }: { spot: data.Spot; run: string; profile: string }) {
  const [found, setFound] = useState<ProfileDiff | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [id, setId] = useState("");
  useEffect(() => {
    const control = new AbortController();
    setFound(null);
    setFault(null);
    const request = { a: { run, profile }, b: { run: spot.run, profile: spot.profile }, rank: spot.rank };
    call("POST /api/profile/diff", request, { signal: control.signal }).then(
      setFound,
      (error: unknown) => isAbort(error) || setFault(error),
    );
    return () => control.abort();
  }, [spot.run, spot.profile, spot.rank, run, profile]);
  if (fault) return <ErrorState error={fault} title="These two cannot be compared" />;
  if (!found) return <Skeleton height={240} />;
  const sheets = found.sheets ?? [];
  const chosen = sheets.find((one) => one.id === id) ?? sheets[0];
  const faster = found.faster ?? null;
  const pills = (
    <Segments
      look="pills"
      label="Compare by"
      value={chosen?.id ?? ""}
      options={sheets.map((one) => ({ value: one.id, label: visibleText(one.title) }))}
      onChange={setId}
    />
  );
  return (
    <>
      <header class="verdict" data-faster={faster ?? undefined}>
        <p class="strong anywhere isolate verdict-text">
          {faster === null ? null : faster ? <ArrowDownIcon size={16} /> : <ArrowUpIcon size={16} />}{" "}
          {visibleText(found.headline)}
        </p>
      </header>
      <Notes notes={found.notes ?? []} />
      <div class="vstack gap-2 tables" data-fill>
        {chosen ? <SheetTable key={chosen.id} sheet={chosen} pills={pills} fill /> : null}
      </div>
    </>
  );
}
