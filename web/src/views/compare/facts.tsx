/** Config and surroundings side by side: only what differs, long values with the differing words marked. */

import { useState } from "preact/hooks";
import { wordDiff } from "../../lib/compare-words";
import { count, visibleText } from "../../lib/format";
import type { FactRow, FactSection, FactSheet } from "../../lib/schema";
import { useAnswer } from "./answer";
import { ColumnName, useColours } from "./column-name";
import { Waiting } from "./section";

export interface FactsProps {
  runs: readonly string[];
  by?: readonly string[];
  base?: string;
  /** Show identical values everywhere. */
  everything?: boolean;
}

const MOST_COLUMNS = 12;
const MOST_ROWS = 300;
/** Shorter values are simply compared; in longer ones the eye needs help. */
const LONG = 24;

export function ConfigDiff({ runs, by = [], base = "", everything = false }: FactsProps) {
  const answer = useAnswer("POST /api/compare/config", { runs: [...runs], by: [...by], all: everything }, runs);
  if (!answer.data) return <Waiting answer={answer} />;
  return <Sheet sheet={answer.data} base={base} untitled />;
}

export function EnvironmentDiff({ runs, by = [], base = "", everything = false }: FactsProps) {
  const answer = useAnswer("POST /api/compare/environment", { runs: [...runs], by: [...by], all: everything }, runs);
  if (!answer.data) return <Waiting answer={answer} />;
  return <Sheet sheet={answer.data} base={base} />;
}

function Sheet({ sheet, base, untitled = false }: { sheet: FactSheet; base: string; untitled?: boolean }) {
  const [wide, setWide] = useState(false);
  const { columns } = sheet.compared;
  const at = Math.max(
    0,
    columns.findIndex((column) => column.id === base),
  );
  const some = columns.map((_, place) => place).filter((place) => place !== at);
  const places = [at, ...some.slice(0, wide ? some.length : MOST_COLUMNS - 1)];
  const filled = sheet.sections.filter((section) => section.rows.length > 0);
  const same = sheet.sections.filter((section) => section.rows.length === 0 && section.same > 0);
  if (columns.length === 0) return <p class="quiet">None of these runs is in this store any more.</p>;
  return (
    <>
      {filled.length === 0 ? (
        <p class="fact-none">
          {sheet.sections.some((one) => one.same > 0)
            ? `Nothing differs${columns.length > 1 ? "" : ": there is only one column"}.`
            : "Nothing was recorded."}
        </p>
      ) : null}
      {filled.map((section) => (
        <FactTable key={section.title} section={section} sheet={sheet} places={places} base={at} untitled={untitled} />
      ))}
      <div class="compare-note">
        {same.length > 0 ? (
          <p>
            The same everywhere: {same.map((section) => `${section.title.toLowerCase()} (${section.same})`).join(", ")}.
          </p>
        ) : null}
        {columns.length > places.length ? (
          <p>
            {count(columns.length - places.length, "more column")} not shown.{" "}
            <button type="button" class="link" onClick={() => setWide(true)}>
              Show all {columns.length}
            </button>
          </p>
        ) : null}
        {sheet.unread.map((words) => (
          <p key={words} class="isolate">
            {visibleText(words)}
          </p>
        ))}
      </div>
    </>
  );
}

interface TableProps {
  section: FactSection;
  sheet: FactSheet;
  places: readonly number[];
  base: number;
  untitled: boolean;
}

function FactTable({ section, sheet, places, base, untitled }: TableProps) {
  const [all, setAll] = useState(false);
  const { columns } = sheet.compared;
  const colours = useColours(sheet.compared);
  const rows = all ? section.rows : section.rows.slice(0, MOST_ROWS);
  return (
    <div class="anchor scroll framed fact-scroll" tabIndex={0} role="region" aria-label={`${section.title}, table`}>
      <table class="fact-table" style={{ "--columns": places.length }}>
        <thead>
          <tr>
            <th scope="col">{untitled ? "Key" : section.title}</th>
            {places.map((at) => {
              const column = columns[at];
              return column ? (
                <th key={column.id} scope="col">
                  <ColumnName column={column} colour={colours.get(column.id)} />
                </th>
              ) : null;
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key} data-same={!row.differs || undefined}>
              <th scope="row" class="isolate">
                <Key name={row.key} />
              </th>
              {places.map((at) => (
                <Value key={at} row={row} at={at} base={base} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="px-3 py-1 small over quiet fact-foot">
        {section.same > 0 ? `${count(section.same, "more value")} the same everywhere.` : ""}
        {rows.length < section.rows.length ? (
          <button type="button" class="link" onClick={() => setAll(true)}>
            Show all {section.rows.length}
          </button>
        ) : null}
        {section.omitted > 0 ? ` ${count(section.omitted, "row")} left out.` : ""}
      </p>
    </div>
  );
}

/** `model/` quiet, `width` strong. */
function Key({ name }: { name: string }) {
  const cut = name.lastIndexOf("/") + 1;
  return (
    <>
      <span class="quiet">{visibleText(name.slice(0, cut))}</span>
      {visibleText(name.slice(cut))}
    </>
  );
}

function Value({ row, at, base }: { row: FactRow; at: number; base: number }) {
  const value = row.values[at] ?? null;
  const from = row.values[base] ?? null;
  const mixed = row.mixed.includes(at);
  if (value === null)
    return (
      <td class="fact-none-cell" data-differs={(at !== base && from !== null) || undefined}>
        not set
      </td>
    );
  const differs = at !== base && value !== from;
  const long = differs && from !== null && Math.max(value.length, from.length) > LONG;
  return (
    <td
      class="isolate"
      data-differs={differs || undefined}
      data-mixed={mixed || undefined}
      title={mixed ? "The runs of this group differ here" : undefined}
    >
      {long
        ? wordDiff(value, from).map((piece, index) =>
            piece.same ? visibleText(piece.text) : <mark key={index}>{visibleText(piece.text)}</mark>,
          )
        : visibleText(value)}
    </td>
  );
}
