/** Sections of one's own, above those that the metrics make by themselves. */

import { Button } from "../../components";
import { PlusIcon } from "../../components/icons";
import { lazily } from "../../components/lazily";
import { addSection, type OwnPanel, type OwnSection, removePanel, resizePanel } from "../../lib/workspace";
import { Panel } from "../charts/panel";
import { useScope } from "../charts/scope";
import { Cell } from "./cell";
import { NEW_SECTION } from "./drag";
import { SizedGrid } from "./grid";
import { OwnHead } from "./section-head";
import { change, dragged, editing, infoOf, space } from "./space";

const OwnPanelView = lazily(() => import("./own-panel").then((chunk) => chunk.OwnPanelView));
const PanelDialog = lazily(() => import("./panel-dialog").then((chunk) => chunk.PanelDialog));

export function OwnSections() {
  return (
    <>
      {space.value.sections.map((section) => (
        <OwnSectionView key={section.id} section={section} />
      ))}
      <DropZone />
      <Ghost />
      {editing.value ? (
        <PanelDialog
          key={editing.value.panel?.id ?? "new"}
          section={editing.value.section}
          panel={editing.value.panel}
        />
      ) : null}
    </>
  );
}

function OwnSectionView({ section }: { section: OwnSection }) {
  const panels = section.panels.filter((panel) => !panel.pinned);
  return (
    <section class="section own-section" aria-label={section.name} data-own-section={section.id}>
      <OwnHead section={section} />
      {section.closed ? null : panels.length === 0 ? (
        <p class="hstack wraps gap-3 centered quiet own-empty">
          <span>Drag panels here by their headings, or</span>
          <Button onClick={() => (editing.value = { section: section.id, panel: null })}>
            <PlusIcon size={14} /> Add panel
          </Button>
        </p>
      ) : (
        <SizedGrid sizes={panels}>
          {(columns) => panels.map((panel) => <OwnCell key={panel.id} panel={panel} columns={columns} />)}
        </SizedGrid>
      )}
    </section>
  );
}

export function OwnCell({ panel, columns }: { panel: OwnPanel; columns: number }) {
  const { panels } = useScope();
  const metric = panel.kind === "metric" ? infoOf(panel, panels.value ?? []) : null;
  return (
    <Cell
      size={panel}
      columns={columns}
      grip={{ title: metric?.key ?? String(panel.options.title ?? panel.kind), panel: panel.id }}
      onSize={(size) => change((now) => resizePanel(now, panel.id, size))}
      onRemove={() => change((now) => removePanel(now, panel.id))}
    >
      {metric ? <Panel info={metric} own={panel} /> : <OwnPanelView panel={panel} />}
    </Cell>
  );
}

/** While a panel is dragged there is room for a section that is not there yet. */
function DropZone() {
  if (!dragged.value) return null;
  return (
    <div class="hstack wraps gap-3 centered raised quiet own-drop" data-own-section={NEW_SECTION}>
      Drop here for a new section
    </div>
  );
}

/** What is being dragged, beside the pointer. */
function Ghost() {
  const now = dragged.value;
  if (!now) return null;
  return (
    <div class="raised isolate ellipsis own-ghost" style={{ transform: `translate(${now.x + 12}px, ${now.y + 8}px)` }}>
      {now.title}
    </div>
  );
}

export function newSection(): void {
  change((now) => addSection(now, "New section"));
}
