/** What a file holds: text, tables, Markdown and pictures. Nothing in it runs; what is no text is not guessed at. */

import { useMemo } from "preact/hooks";
import { IconButton, Skeleton } from "../../../components";
import { CloseIcon, DownloadIcon } from "../../../components/icons";
import { Markdown } from "../../../components/markdown";
import { addressOf } from "../../../lib/api";
import { isNumeric, readCsv, tidyJson } from "../../../lib/csv-rows";
import { count, visibleText } from "../../../lib/format";
import type { ArtifactPreview } from "../../../lib/schema";
import { useAnswer } from "../answer";
import { Code } from "../pieces";
import { file, type VersionRef } from "./settings";

export function Preview({ run, at, path }: { run: string; at: VersionRef; path: string }) {
  const asked = { run, ...at, path };
  const { answer, fault, waiting } = useAnswer("POST /api/artifact/preview", asked);
  const name = visibleText(path);
  return (
    <section class="card files-preview" aria-label={`Content of ${name}`} aria-busy={waiting}>
      <header class="card-head">
        <h2 class="mono isolate ellipsis">{name}</h2>
        <a
          class="icon-button"
          href={addressOf("/api/artifact/file", asked)}
          download=""
          aria-label="Download this file"
          title="Download this file"
        >
          <DownloadIcon size={14} />
        </a>
        {file.value ? (
          <IconButton label="Close" onClick={() => (file.value = "")}>
            <CloseIcon size={12} />
          </IconButton>
        ) : null}
      </header>
      {fault ? (
        <p class="anywhere isolate quiet card-none">{fault instanceof Error ? fault.message : String(fault)}</p>
      ) : null}
      {answer && !waiting ? (
        <Content preview={answer} url={addressOf("/api/artifact/file", { ...asked, show: true })} name={name} />
      ) : fault ? null : (
        <Skeleton height={60} />
      )}
      {answer?.cut ? (
        <p class="anywhere quiet card-none">Only its beginning is shown; download it for the rest.</p>
      ) : null}
    </section>
  );
}

function Content({ preview, url, name }: { preview: ArtifactPreview; url: string; name: string }) {
  switch (preview.kind) {
    case "image":
      return (
        <div class="files-picture">
          <img src={url} alt={name} />
        </div>
      );
    case "markdown":
      return (
        <div class="files-markdown">
          <Markdown text={preview.text ?? ""} />
        </div>
      );
    case "csv":
      return <CsvTable text={preview.text ?? ""} name={name} />;
    case "json":
      return <Code text={preview.cut ? (preview.text ?? "") : tidyJson(preview.text ?? "")} label={name} tall />;
    case "text":
      return preview.text ? (
        <Code text={preview.text} label={name} tall />
      ) : (
        <p class="anywhere quiet card-none">The file is empty.</p>
      );
    case "reference":
      return (
        <>
          <p class="anywhere quiet card-none">{preview.note}</p>
          <Code text={preview.text ?? ""} label="Where the file is" />
        </>
      );
    case "problem":
      return (
        <p class="banner isolate files-broken" data-tone="bad" role="alert">
          {visibleText(preview.note ?? "")}
        </p>
      );
    case "binary":
      return (
        <>
          <p class="anywhere quiet card-none">{preview.note}</p>
          {preview.text ? <pre class="scroll soft mono files-hex">{hexRows(preview.text)}</pre> : null}
        </>
      );
  }
}

function CsvTable({ text, name }: { text: string; name: string }) {
  const { head, rows, more } = useMemo(() => readCsv(text), [text]);
  const numbers = useMemo(() => head.map((_, column) => isNumeric(rows, column)), [head, rows]);
  return (
    <>
      <div class="files-csv" tabIndex={0} role="group" aria-label={`Table ${name}`}>
        <table class="table-hover table metrics">
          <thead>
            <tr>
              {head.map((cell, column) => (
                <th key={column} scope="col" class={numbers[column] ? "number isolate" : "isolate"}>
                  {visibleText(cell)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {head.map((_, column) => (
                  <td key={column} class={numbers[column] ? "number isolate" : "isolate"}>
                    {visibleText(row[column] ?? "")}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 ? <p class="anywhere quiet card-none">{count(more, "more row")}</p> : null}
    </>
  );
}

/** `00000010  7f 45 4c …  .ELF` */
function hexRows(hex: string): string {
  const bytes = hex.match(/../g) ?? [];
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const some = bytes.slice(at, at + 16);
    const letters = some
      .map((byte) => (/^[2-6][0-9a-f]$|^7[0-9a-e]$/.test(byte) ? String.fromCharCode(parseInt(byte, 16)) : "·"))
      .join("");
    rows.push(`${at.toString(16).padStart(8, "0")}  ${some.join(" ").padEnd(47)}  ${letters}`);
  }
  return rows.join("\n");
}
