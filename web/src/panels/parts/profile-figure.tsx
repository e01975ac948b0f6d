import { ErrorState, Skeleton } from "../../components";
import { call } from "../../lib/api";
import { count, visibleText } from "../../lib/format";
import { formatCell, isNumeric } from "../../lib/profile-format";
import type { ProfilePage, ReportRun, Sheet } from "../../lib/schema";
import "../../style/profile.css";
import { AdviceList, Headline, useAdvice } from "../../views/profile/advice";
import { CurveCard } from "../../views/profile/curve";
import { type Spot, useAnswer } from "../../views/profile/data";
import { PartsCard } from "../../views/profile/parts";
import { Asked } from "./asked";
import { RunName } from "./run-name";

export interface ProfileFigureProps {
  run: ReportRun;
  /** Say whose it is: there are several. */
  named: boolean;
  profile: string;
  analysis: string;
  rank: number | null;
  most: number;
}

async function ask({ run, profile, rank }: ProfileFigureProps, stop: AbortSignal): Promise<ProfilePage | null> {
  const id = profile || (await call("POST /api/profiles", { run: run.id }, { signal: stop })).profiles.at(-1)?.id;
  return id === undefined ? null : call("POST /api/profile", { run: run.id, profile: id, rank }, { signal: stop });
}

export function ProfileFigure(props: ProfileFigureProps) {
  const { run, profile, analysis, rank, named } = props;
  return (
    <Asked question={JSON.stringify([run.id, profile, rank])} runs={[]} height={260} ask={(stop) => ask(props, stop)}>
      {(page) => (
        <div class="report-profile">
          {named ? <RunName run={run} /> : null}
          {page === null ? (
            <p class="quiet">This run was not profiled.</p>
          ) : (
            <Body page={page} run={run.id} analysis={analysis} most={props.most} />
          )}
        </div>
      )}
    </Asked>
  );
}

function Body({ page, run, analysis, most }: { page: ProfilePage; run: string; analysis: string; most: number }) {
  const spot: Spot = { run, profile: page.profile.id, rank: page.rank };
  if (analysis) return <Answer spot={spot} analysis={analysis} most={most} />;
  const phases = page.tabs.find((tab) => tab.id === "overview")?.answers.find((one) => one.kind === "parts");
  return (
    <>
      <Verdict spot={spot} />
      {phases ? <Answer spot={spot} analysis={phases.id} most={most} /> : null}
    </>
  );
}

function Verdict({ spot }: { spot: Spot }) {
  const asked = useAdvice(spot);
  return (
    <>
      <Headline asked={asked} />
      {asked.fault || asked.advice?.advice.length === 0 ? null : <AdviceList advice={asked.advice} />}
    </>
  );
}

function Answer({ spot, analysis, most }: { spot: Spot; analysis: string; most: number }) {
  const { answer, fault } = useAnswer(spot, analysis);
  if (fault) return <ErrorState error={fault} />;
  if (!answer) return <Skeleton height={220} />;
  if (answer.parts) return <PartsCard data={answer.parts} />;
  if (answer.curve) return <CurveCard curve={answer.curve} />;
  if (answer.sheet) return <SheetFigure sheet={answer.sheet} most={most} rows={answer.rows} />;
  return <p class="quiet isolate">{visibleText(answer.why || "This analysis has nothing to show.")}</p>;
}

/** The first rows of a table, all columns that it shows by itself. */
function SheetFigure({ sheet, most, rows }: { sheet: Sheet; most: number; rows: number }) {
  const columns = sheet.columns.map((column, at) => ({ column, at })).filter(({ column }) => !column.hidden);
  const by = sheet.columns.findIndex((column) => column.key === sheet.sort);
  const size = (row: readonly unknown[]): number =>
    typeof row[by] === "number" ? (row[by] as number) : Number.NEGATIVE_INFINITY;
  const ordered = by < 0 || sheet.levels?.length ? sheet.rows : [...sheet.rows].sort((a, b) => size(b) - size(a));
  const shown = ordered.slice(0, most);
  return (
    <div class="anchor scroll framed report-scroll" tabIndex={0} role="region" aria-label={visibleText(sheet.title)}>
      <table class="table report-table">
        <caption class="isolate">{visibleText(sheet.title)}</caption>
        <thead>
          <tr>
            {columns.map(({ column }) => (
              <th
                key={column.key}
                scope="col"
                class="isolate"
                title={visibleText(column.help ?? "")}
                data-number={isNumeric(column.unit) || undefined}
              >
                {visibleText(column.label)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, n) => (
            <tr key={n}>
              {columns.map(({ column, at }) => (
                <td key={column.key} class="isolate" data-number={typeof row[at] === "number" || undefined}>
                  {visibleText(formatCell(row[at], column)).slice(0, 120)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows > shown.length ? (
        <p class="px-3 py-2 small quiet">{count(rows - shown.length, "more row")} on the Profile page</p>
      ) : null}
    </div>
  );
}
