/** A tab made of what its analyses answered: pictures first, then one table at a time. */

import { Segments } from "../../components/segments";
import type { ComponentChildren } from "preact";
import { ErrorState, Skeleton } from "../../components";
import { count, visibleText } from "../../lib/format";
import { rankParts } from "../../lib/parts-ranks";
import type { OfferedAnswer, ProfileTab } from "../../lib/schema";
import { text } from "../../lib/url";
import { param } from "../../router";
import { BARS, SheetBars } from "./bars";
import { CurveCard } from "./curve";
import { type Spot, useAnswer } from "./data";
import { downloadAddress } from "./export";
import { PartsCard } from "./parts";
import { SheetTable } from "./sheet";
import { Prose } from "./words";

/** The table that is chosen on the page, by its analysis; "" for the first. */
const table = param<string>("table", "", text);

export function Answers({ spot, tab }: { spot: Spot; tab: ProfileTab }) {
  const pictures = tab.answers.filter((one) => one.kind === "parts" || one.kind === "curve");
  const drawn = [...pictures, ...tab.answers.filter((one) => BARS.has(one.id))];
  return (
    <div class="answers in-order">
      {drawn.length > 0 ? (
        <div class="vstack gap-4 shrinks answers-drawn in-order" data-count={drawn.length}>
          {drawn.map((one) => (
            <Drawn key={one.id} spot={spot} offered={one} />
          ))}
        </div>
      ) : null}
      <Tables
        spot={spot}
        offered={tab.answers.filter((one) => one.kind === "sheet" || one.kind === "failed")}
        fill={drawn.length === 0}
      />
    </div>
  );
}

function Drawn({ spot, offered }: { spot: Spot; offered: OfferedAnswer }) {
  const { answer, fault } = useAnswer(spot, offered.id);
  if (fault) return <ErrorState error={fault} title={visibleText(offered.title)} />;
  if (answer?.parts) return <PartsCard data={answer.parts} />;
  if (answer?.curve) return <CurveCard curve={answer.curve} />;
  const ranks = offered.id === "ranks" && answer?.sheet ? rankParts(answer.sheet) : null;
  if (ranks) return <PartsCard data={ranks} noun="rank" />;
  if (answer?.sheet) return <SheetBars sheet={answer.sheet} />;
  return <Skeleton height={180} />;
}

/** One table at a time; where there are several, their names are the choice. */
export function Tables({
  spot,
  offered,
  fill = false,
}: {
  spot: Spot;
  offered: readonly OfferedAnswer[];
  fill?: boolean;
}) {
  const chosen = offered.find((one) => one.id === table.value) ?? offered[0];
  if (!chosen) return null;
  const pills =
    offered.length < 2 ? null : (
      <Segments
        look="pills"
        label="Table"
        value={chosen.id}
        options={offered.map((one) => ({ value: one.id, label: visibleText(one.title), about: aboutTable(one) }))}
        onChange={(id) => (table.value = id)}
      />
    );
  return (
    <div class="vstack gap-2 tables" data-fill={fill || undefined}>
      <Table key={chosen.id} spot={spot} offered={chosen} fill={fill} pills={pills} />
    </div>
  );
}

function Table({
  spot,
  offered,
  fill,
  pills,
}: {
  spot: Spot;
  offered: OfferedAnswer;
  fill: boolean;
  pills: ComponentChildren;
}) {
  const { answer, fault } = useAnswer(spot, offered.kind === "failed" ? "" : offered.id);
  if (answer?.sheet)
    return (
      <SheetTable
        sheet={answer.sheet}
        rows={answer.rows}
        fill={fill}
        pills={pills}
        csv={downloadAddress({ ...spot, kind: "csv", analysis: offered.id })}
      />
    );
  const broken = offered.kind === "failed" || answer?.kind === "failed";
  return (
    <>
      {pills}
      {broken ? <Broken title={offered.title} why={answer?.why || offered.why} /> : null}
      {fault ? <ErrorState error={fault} title={visibleText(offered.title)} /> : null}
      {broken || fault ? null : <Skeleton height={240} />}
    </>
  );
}

const aboutTable = (one: OfferedAnswer): string =>
  visibleText([one.about, one.kind === "sheet" ? count(one.size, "row") : one.why].filter(Boolean).join("\n"));

/** One part could not be made of what was recorded; the others stand. */
export function Broken({ title, why }: { title: string; why: string }) {
  return (
    <section class="banner card card-warn" data-tone="warn" role="alert">
      <strong class="isolate">{visibleText(title)}</strong>{" "}
      <span class="isolate">
        <Prose text={why} />
      </span>
    </section>
  );
}
