/** The first look at a run: how it ended, what is wrong, how it went, and what it was made from. */

import { count, visibleText } from "../../../lib/format";
import type { RunDetail } from "../../../lib/schema";
import { signedIn } from "../../../state";
import { Comments } from "../../comments/comments";
import { Changes, Git } from "../code";
import { Config } from "../config";
import { Machine, Packages } from "../machine";
import { MainCharts } from "../main-charts";
import { Metrics } from "../metrics";
import { Notes } from "../notes";
import { Section } from "../pieces";
import { goPart, linkToPart } from "../place";
import { Reproduce } from "../reproduce";
import { Alerts, Artifacts, Attempts, Failure, Losses } from "../story";
import { findingWords } from "./findings";

export function OverviewPart({ run }: { run: RunDetail }) {
  return (
    <div class="fill-down scroll part-scroll">
      <div class="run-columns">
        <div class="vstack gap-4 shrinks">
          <Failure run={run} />
          <Losses run={run} />
          <Found run={run} />
          <Notes run={run} />
          <MainCharts run={run} />
          <Metrics run={run} />
          <Alerts run={run} />
          <Attempts run={run} />
          {signedIn.value ? (
            <Section title="Comments" id="comments">
              <Comments run={run.id} />
            </Section>
          ) : null}
        </div>
        <div class="vstack gap-4 shrinks">
          <Reproduce run={run} />
          <Git run={run} />
          <Config config={run.config} origins={run.config_origins} />
          <Artifacts run={run} />
          <Machine run={run} />
          <Packages run={run} />
        </div>
      </div>
      <Changes run={run} />
    </div>
  );
}

const MOST = 4;

/** The gravest findings in a line each; the Findings part has all of them in full. */
function Found({ run }: { run: RunDetail }) {
  const grave = run.findings.filter((one) => one.severity !== "info");
  if (grave.length === 0) return null;
  const open = (id: string) => (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    goPart("findings", { finding: id });
  };
  return (
    <Section title="Findings" aside={<a href={linkToPart(run.id, "findings")}>{findingWords(run.findings)}</a>}>
      <ul class="found">
        {grave.slice(0, MOST).map((one) => (
          <li key={one.id} data-level={one.severity}>
            <a href={linkToPart(run.id, "findings", { finding: one.id })} onClick={open(one.id)}>
              <span class="fill medium anywhere isolate">{visibleText(one.message.replace(/`/g, ""))}</span>
              <span class="rigid anywhere isolate mono quiet found-place">{visibleText(one.place)}</span>
            </a>
          </li>
        ))}
      </ul>
      {grave.length > MOST ? (
        <p class="anywhere quiet card-none">
          <a href={linkToPart(run.id, "findings")}>and {count(grave.length - MOST, "more", "more")}</a>
        </p>
      ) : null}
    </Section>
  );
}
