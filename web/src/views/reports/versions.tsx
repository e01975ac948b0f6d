/** The versions of a report: when, by whom, what differs from now, and the way back to one. */

import { useEffect, useState } from "preact/hooks";
import { Button, Dialog, ErrorState, Skeleton } from "../../components";
import { now } from "../../clock";
import { call } from "../../lib/api";
import { formatAge, formatBytes, formatTimeZone, visibleText } from "../../lib/format";
import type { ReportPage, ReportVersion } from "../../lib/schema";
import { DiffView } from "./diff-view";

export interface VersionsProps {
  page: ReportPage;
  onRead(version: number): void;
  onBringBack(old: ReportPage): void;
  onClose(): void;
}

export function Versions({ page, onRead, onBringBack, onClose }: VersionsProps) {
  const [chosen, setChosen] = useState(page.versions.at(-2)?.version ?? page.newest);
  const [texts, setTexts] = useState<{ old: ReportPage; current: ReportPage } | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  useEffect(() => {
    let gone = false;
    Promise.all([
      call("POST /api/report", { id: page.id, version: chosen }),
      call("POST /api/report", { id: page.id }),
    ]).then(
      ([old, current]) => gone || (setTexts({ old, current }), setFault(null)),
      (error: unknown) => gone || setFault(error),
    );
    return () => void (gone = true);
  }, [page.id, chosen]);
  const newest = chosen === page.newest;
  const here = texts?.old.version === chosen ? texts : null;
  return (
    <Dialog title="Versions" onClose={onClose} wide>
      <div class="versions">
        <ol class="versions-list" aria-label="Versions">
          {[...page.versions].reverse().map((one) => (
            <VersionRow
              key={one.version}
              one={one}
              newest={one.version === page.newest}
              chosen={one.version === chosen}
              onPick={() => setChosen(one.version)}
            />
          ))}
        </ol>
        <div class="vstack gap-2 shrinks">
          <header>
            <h3>{newest ? "This is the current version" : `Version ${chosen} beside the current one`}</h3>
            <span class="spring" />
            {newest ? null : (
              <>
                <Button onClick={() => onRead(chosen)}>Read it</Button>
                {page.editable ? (
                  <Button kind="primary" disabled={!here} onClick={() => here && onBringBack(here.old)}>
                    Bring back
                  </Button>
                ) : null}
              </>
            )}
          </header>
          {fault ? (
            <ErrorState error={fault} />
          ) : !here ? (
            <Skeleton height={120} />
          ) : newest ? (
            <p class="quiet">Choose an older one to see what has changed since.</p>
          ) : (
            <DiffView older={here.old.text} newer={here.current.text} />
          )}
        </div>
      </div>
    </Dialog>
  );
}

function VersionRow({
  one,
  newest,
  chosen,
  onPick,
}: {
  one: ReportVersion;
  newest: boolean;
  chosen: boolean;
  onPick(): void;
}) {
  return (
    <li>
      <button type="button" class="option" aria-pressed={chosen} onClick={onPick} title={formatTimeZone(one.time)}>
        <strong>{one.version}</strong>
        <span>
          {formatAge(one.time, now.value)}
          {newest ? <em> current</em> : null}
          <small class="isolate">
            {visibleText(one.author)} · {formatBytes(one.bytes)}
          </small>
        </span>
      </button>
    </li>
  );
}
