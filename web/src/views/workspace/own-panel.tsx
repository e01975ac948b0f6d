/** A panel of one's own: what the runs logged, or any kind that a report can have. */

import { useErrorBoundary, useState } from "preact/hooks";
import { Button, IconButton, Menu, type MenuItem } from "../../components";
import {
  CloseIcon,
  CopyIcon,
  PencilIcon,
  ExpandIcon,
  MoreIcon,
  PinIcon,
  ReportIcon,
  TrashIcon,
} from "../../components/icons";
import { lazily } from "../../components/lazily";
import { visibleText } from "../../lib/format";
import { copyPanel, type OwnPanel, pinPanel, removePanel } from "../../lib/workspace";
import { kindNamed, textOf } from "../../panels/panel";
import "../../style/report-panels.css";
import { useScope } from "../charts/scope";
import { panelTitle } from "./panel-title";
import { asReportRuns, change, editing } from "./space";

const AddToReport = lazily(() => import("../reports/add").then((chunk) => chunk.AddToReport));

const enlargedId = (panel: OwnPanel): string => `own:${panel.id}`;

export interface OwnPanelViewProps {
  panel: OwnPanel;
  large?: boolean;
}

export function OwnPanelView({ panel, large = false }: OwnPanelViewProps) {
  const scope = useScope();
  const { settings } = scope;
  const [adding, setAdding] = useState(false);
  const title = panelTitle(panel);
  const id = enlargedId(panel);
  const enlarge = () => (settings.enlarged.value = large ? "" : id);
  const onKey = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const does = {
      f: enlarge,
      e: () => (editing.value = { section: null, panel }),
      p: () => change((now) => pinPanel(now, panel.id)),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    event.stopPropagation();
    does();
  };
  return (
    <article
      class="panel own-panel"
      data-kind={panel.kind}
      data-large={large || undefined}
      tabIndex={0}
      aria-label={`${title}, panel`}
      onKeyDown={onKey}
    >
      <header class="hstack gap-2 panel-head">
        <h3 class="isolate ellipsis" title={title}>
          {title}
        </h3>
        <span class="spring" />
        <span class="panel-tools">
          <IconButton
            label={panel.pinned ? "Unpin" : "Pin to the top (p)"}
            pressed={panel.pinned ?? false}
            onClick={() => change((now) => pinPanel(now, panel.id))}
          >
            <PinIcon size={14} />
          </IconButton>
          <IconButton label={large ? "Close (Esc)" : "Enlarge (f)"} onClick={enlarge}>
            {large ? <CloseIcon size={14} /> : <ExpandIcon size={14} />}
          </IconButton>
          <Menu
            label="Panel menu"
            button={<MoreIcon size={14} />}
            buttonClass="icon-button"
            align="end"
            items={items(panel, () => setAdding(true))}
          />
        </span>
      </header>
      <OwnBody panel={panel} />
      {adding ? (
        <AddToReport
          panel={panel.kind}
          about={title}
          options={panel.options}
          runs={scope.drawnRuns.peek()}
          onClose={() => setAdding(false)}
        />
      ) : null}
    </article>
  );
}

function items(panel: OwnPanel, onReport: () => void): MenuItem[] {
  return [
    {
      key: "edit",
      label: "Edit…",
      icon: <PencilIcon size={14} />,
      hint: "e",
      onPick: () => (editing.value = { section: null, panel }),
    },
    {
      key: "copy",
      label: "Duplicate",
      icon: <CopyIcon size={14} />,
      onPick: () => change((now) => copyPanel(now, panel.id)),
    },
    { key: "report", label: "Add to report…", icon: <ReportIcon size={14} />, onPick: onReport },
    {
      key: "remove",
      label: "Remove panel",
      icon: <TrashIcon size={14} />,
      hint: "Del",
      onPick: () => change((now) => removePanel(now, panel.id)),
    },
  ];
}

/** What the panel shows, or why it cannot. */
export function OwnBody({ panel }: { panel: OwnPanel }) {
  const scope = useScope();
  const kind = kindNamed(panel.kind);
  const [fault, reset] = useErrorBoundary();
  const runs = asReportRuns(scope.drawnRuns.value);
  if (!kind || fault) {
    return (
      <div class="page anchor">
        <div class="hstack gap-2 centered small anywhere raised quiet panel-cover" role="alert">
          <p>
            {kind
              ? String(fault instanceof Error ? fault.message : fault)
              : `This version has no panel “${visibleText(panel.kind)}”.`}
          </p>
          {fault ? <Button onClick={reset}>Try again</Button> : null}
        </div>
      </div>
    );
  }
  if (kind.needs !== 0 && runs.length < (kind.needs ?? 1)) {
    return (
      <div class="page anchor">
        <div class="hstack gap-2 centered small anywhere raised quiet panel-cover">
          {runs.length === 0 ? "All runs are hidden." : `This panel needs ${kind.needs} runs.`}
        </div>
      </div>
    );
  }
  const caption = visibleText(textOf(panel.options, "caption"));
  return (
    <div class="page anchor own-body" data-panel={panel.kind}>
      <div class="vstack scroll own-inner">
        <kind.Panel options={panel.options} runs={runs} />
        {caption ? <p class="small isolate quiet own-caption">{caption}</p> : null}
      </div>
    </div>
  );
}
