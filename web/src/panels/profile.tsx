/** Where the time of a step goes: the verdict with its advice and the phases, or one table of the profile. */

import { lazily } from "../components/lazily";
import { numberOf, type PanelKind, type PanelProps, textOf } from "./panel";

const ProfileFigure = lazily(() => import("./parts/profile-figure").then((chunk) => chunk.ProfileFigure));

function Panel({ options, runs }: PanelProps) {
  return (
    <>
      {runs.slice(0, 4).map((run) => (
        <ProfileFigure
          key={run.id}
          run={run}
          named={runs.length > 1}
          profile={textOf(options, "profile")}
          analysis={textOf(options, "analysis")}
          rank={numberOf(options, "rank")}
          most={numberOf(options, "rows") ?? 12}
        />
      ))}
    </>
  );
}

export default {
  kind: "profile",
  title: "Profile",
  hint: "what a step spends its time on, and what would help",
  needs: 1,
  fields: [
    {
      name: "analysis",
      label: "Table",
      type: "text",
      hint: "operators, kernels, modules …; empty for the verdict, the advice and the phases",
    },
    { name: "rows", label: "Rows", type: "number" },
    { name: "profile", label: "Profile", type: "text", hint: "the newest if empty" },
  ],
  Panel,
} satisfies PanelKind;
