/** A report to be read: a slim bar, the contents beside, the text and its panels. */

import { useEffect, useState } from "preact/hooks";
import { useActions } from "../../actions";
import { Button } from "../../components";
import { ChevronLeftIcon, HistoryIcon, PencilIcon } from "../../components/icons";
import { now } from "../../clock";
import { formatAge, formatTime, formatTimeZone, visibleText } from "../../lib/format";
import { beginsWithTitle, headingsOf } from "../../lib/report-blocks";
import type { ReportPage } from "../../lib/schema";
import { useKeys } from "../../keys";
import { lightOnPaper } from "../../report/printing";
import { linkTo } from "../../router";
import { signedIn } from "../../state";
import { Comments } from "../comments/comments";
import { ReportBody, useShown } from "./body";
import { Contents } from "./contents";
import { ShareMenu } from "./share";
import { Versions } from "./versions";

export interface ReadingProps {
  page: ReportPage;
  onEdit(): void;
  onVersion(version: number): void;
  onBringBack(old: ReportPage): void;
}

export function Reading({ page, onEdit, onVersion, onBringBack }: ReadingProps) {
  const shown = useShown(page.blocks);
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const [versions, setVersions] = useState(false);
  useEffect(() => lightOnPaper(), []);
  const old = page.version !== page.newest;
  useActions(page.editable && !old ? [{ id: "report.edit", title: "Edit this report", keys: "e", run: onEdit }] : [], [
    page.editable,
    old,
  ]);
  useKeys(page.editable && !old ? { e: onEdit } : {});
  return (
    <div class="page report-page">
      <div class="bar report-bar" role="toolbar" aria-label="Report">
        <a class="button button-quiet" href={linkTo("/reports")}>
          <ChevronLeftIcon size={14} /> Reports
        </a>
        <span class="shrinks isolate ellipsis quiet report-editing">{visibleText(page.title)}</span>
        <span class="spring" />
        <Button kind="quiet" title={formatTimeZone(page.changed)} onClick={() => setVersions(true)}>
          <HistoryIcon size={14} /> Version {page.version}
          <span class="report-age"> · {formatAge(page.changed, now.value)}</span>
        </Button>
        <ShareMenu page={page} />
        {page.editable && !old ? (
          <Button kind="primary" title="Edit (e)" onClick={onEdit}>
            <PencilIcon size={14} /> Edit
          </Button>
        ) : null}
      </div>
      {old ? (
        <p class="under banner report-old" data-tone="warn" role="status">
          This is version {page.version} of {page.newest}.{" "}
          <button type="button" class="link" onClick={() => onVersion(page.newest)}>
            Read the newest
          </button>
          {page.editable ? (
            <>
              {" or "}
              <button type="button" class="link" onClick={() => onBringBack(page)}>
                restore this version
              </button>
            </>
          ) : null}
        </p>
      ) : null}
      <div ref={setScroller} class="fill-down anchor scroll report-area" tabIndex={0} role="region" aria-label="Report">
        <div class="report-spread">
          <Contents headings={headingsOf(shown)} scroller={scroller} />
          <article class="report">
            {beginsWithTitle(shown) ? null : <h1 class="report-title isolate">{visibleText(page.title)}</h1>}
            <Byline page={page} />
            <ReportBody shown={shown} />
            {signedIn.value ? (
              <section class="card comments-card" aria-label="Comments">
                <header class="card-head">
                  <h2>Comments</h2>
                </header>
                <Comments report={page.id} />
              </section>
            ) : null}
          </article>
        </div>
      </div>
      {versions ? (
        <Versions
          page={page}
          onClose={() => setVersions(false)}
          onRead={(one) => (setVersions(false), onVersion(one))}
          onBringBack={(one) => (setVersions(false), onBringBack(one))}
        />
      ) : null}
    </div>
  );
}

function Byline({ page }: { page: ReportPage }) {
  const parts = [visibleText(page.author), visibleText(page.project), formatTime(page.changed).slice(0, 16)].filter(
    Boolean,
  );
  return <p class="report-byline isolate">{parts.join(" · ")}</p>;
}
