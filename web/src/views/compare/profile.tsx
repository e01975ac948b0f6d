/** The newest profiles of two runs beside each other: the verdict, and what changed most. */

import { useMemo } from "preact/hooks";
import { ArrowDownIcon, ArrowUpIcon } from "../../components/icons";
import { count, visibleText } from "../../lib/format";
import type { ShownProfile } from "../../lib/schema";
import { formatHash } from "../../lib/url";
import { place } from "../../router";
import { nameOf } from "../../state";
import "../../style/profile.css";
import "../../style/profile-sheet.css";
import { SheetTable } from "../profile/sheet";
import { Notes } from "../profile/words";
import { useAnswer } from "./answer";
import { Waiting } from "./section";

const MOST_ROWS = 12;

/** The newest that is more than phases; phases if there is nothing else. */
function bestOf(profiles: readonly ShownProfile[]): ShownProfile | undefined {
  const usable = profiles.filter((one) => !one.error);
  return usable.filter((one) => one.kind !== "simple").at(-1) ?? usable.at(-1);
}

export function ProfileCompared({ a, b }: { a: string; b: string }) {
  const left = useAnswer("POST /api/profiles", { run: a }, [a]);
  const right = useAnswer("POST /api/profiles", { run: b }, [b]);
  const found = [left, right].map((side) => (side.data ? bestOf(side.data.profiles) : undefined));
  const [from, to] = found;
  const request = from && to ? { a: { run: a, profile: from.id }, b: { run: b, profile: to.id }, rank: null } : null;
  const answer = useAnswer("POST /api/profile/diff", request, [a, b]);
  const sheet = useMemo(() => {
    const whole = answer.data?.sheets?.[0];
    return whole
      ? {
          ...whole,
          rows: whole.rows.slice(0, MOST_ROWS),
          ...(whole.levels ? { levels: whole.levels.slice(0, MOST_ROWS) } : {}),
        }
      : null;
  }, [answer.data]);
  if (left.fault) return <Waiting answer={left} />;
  if (right.fault) return <Waiting answer={right} />;
  if (!left.data || !right.data) return <Waiting answer={left.data ? right : left} />;
  if (!from || !to) {
    const without = [a, b].filter((_, at) => !found[at]).map((run) => visibleText(nameOf(run)));
    return (
      <p class="quiet isolate">
        {without.join(" and ")} {without.length === 1 ? "has" : "have"} no profile that can be read.{" "}
        <code>stepscope profile train.py</code> makes one.
      </p>
    );
  }
  if (!answer.data) return <Waiting answer={answer} />;
  const faster = answer.data.faster ?? null;
  const link = formatHash({
    path: "/profile",
    query: { ...place.value.query, of: b, profile: to.id, tab: "diff", before: a, beforeProfile: from.id },
  });
  const rows = answer.data.sheets?.[0]?.rows.length ?? 0;
  return (
    <div class="profile-compared">
      <header class="verdict" data-faster={faster ?? undefined}>
        <p class="strong anywhere isolate verdict-text">
          {faster === null ? null : faster ? <ArrowDownIcon size={16} /> : <ArrowUpIcon size={16} />}{" "}
          {visibleText(answer.data.headline)}
        </p>
      </header>
      <Notes notes={answer.data.notes ?? []} />
      {sheet ? <SheetTable sheet={sheet} /> : null}
      <p class="compare-note">
        {rows > MOST_ROWS ? `${count(rows - MOST_ROWS, "more row")}. ` : ""}
        <a href={link}>The whole difference on the Profile page</a>
      </p>
    </div>
  );
}
