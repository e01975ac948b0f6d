/** The Overview: the verdict, where each step goes, what to change; then the tables of the whole. */

import { Segments } from "../../components/segments";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ErrorState, Skeleton } from "../../components";
import { visibleText } from "../../lib/format";
import type { OfferedAnswer, ProfilePage, ProfileTab } from "../../lib/schema";
import { AdviceList, Headline, useAdvice } from "./advice";
import { Broken, Tables } from "./answers";
import { CurveCard } from "./curve";
import { type Spot, useAnswer } from "./data";
import { PartsCard } from "./parts";
import { Notes } from "./words";

interface OverviewProps {
  spot: Spot;
  page: ProfilePage;
  tab: ProfileTab;
  /** Shown when it has neither steps nor a verdict. */
  nothing: JSX.Element;
}

export function Overview({ spot, page, tab, nothing }: OverviewProps) {
  const asked = useAdvice(spot);
  const parts = tab.answers.filter((one) => one.kind === "parts");
  const curves = tab.answers.filter((one) => one.kind === "curve");
  if (tab.answers.length === 0 && asked.advice?.kind === "none") return nothing;
  return (
    <div class="overview in-order">
      <Headline asked={asked} />
      <div class="overview-columns">
        <div class="vstack gap-4 shrinks overview-main in-order">
          {parts.length > 0 ? <Steps spot={spot} offered={parts} /> : null}
          {curves.map((one) => (
            <Curves key={one.id} spot={spot} offered={one} />
          ))}
          <Notes notes={page.profile.notes} />
        </div>
        <div class="vstack gap-4 shrinks">{asked.fault ? null : <AdviceList advice={asked.advice} />}</div>
      </div>
      <Tables spot={spot} offered={tab.answers.filter((one) => one.kind === "sheet" || one.kind === "failed")} />
    </div>
  );
}

/** The same steps seen in different ways: by phase of the loop, by what the device did. */
function Steps({ spot, offered }: { spot: Spot; offered: readonly OfferedAnswer[] }) {
  const [id, setId] = useState("");
  const chosen = offered.find((one) => one.id === id) ?? (offered[0] as OfferedAnswer);
  const { answer, fault } = useAnswer(spot, chosen.id);
  return (
    <>
      {offered.length > 1 ? (
        <Segments
          look="pills"
          label="Steps by"
          value={chosen.id}
          options={offered.map((one) => ({
            value: one.id,
            label: visibleText(one.title),
            about: visibleText(one.about),
          }))}
          onChange={setId}
        />
      ) : null}
      {fault ? (
        <ErrorState error={fault} />
      ) : answer?.parts ? (
        <PartsCard data={answer.parts} />
      ) : answer?.why ? (
        <Broken title={chosen.title} why={answer.why} />
      ) : (
        <Skeleton height={260} />
      )}
    </>
  );
}

function Curves({ spot, offered }: { spot: Spot; offered: OfferedAnswer }) {
  const { answer } = useAnswer(spot, offered.id);
  return answer?.curve ? <CurveCard curve={answer.curve} /> : <Skeleton height={200} />;
}
