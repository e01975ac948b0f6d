/** Panels under the heading of their prefix; a long section shows its first ones and a way to more. */

import { useState } from "preact/hooks";
import { Button } from "../../components";
import { ChevronRightIcon, PinIcon } from "../../components/icons";
import { panelId, type Section } from "../../lib/chart-sections";
import { visibleText } from "../../lib/format";
import type { PanelInfo } from "../../lib/schema";
import { hideAutomatic, panelsOf, sizeAutomatic } from "../../lib/workspace";
import { Cell } from "../workspace/cell";
import { SizedGrid } from "../workspace/grid";
import { OwnCell } from "../workspace/own-sections";
import { change, space } from "../workspace/space";
import { Panel } from "./panel";
import { useScope } from "./scope";
import { toggled } from "./settings";

const AT_ONCE = 120;

export function PinnedSection() {
  const scope = useScope();
  const infos = scope.pinnedInfos.value;
  const own = scope.arranged ? panelsOf(space.value).filter((panel) => panel.pinned) : [];
  if (infos.length + own.length === 0) return null;
  return (
    <section class="section" aria-label="Pinned">
      <h2 class="section-head">
        <span class="inline strong section-toggle">
          <PinIcon size={13} /> Pinned <span class="small quiet section-count">{infos.length + own.length}</span>
        </span>
      </h2>
      {own.length ? (
        <SizedGrid sizes={own}>
          {(columns) => own.map((panel) => <OwnCell key={panel.id} panel={panel} columns={columns} />)}
        </SizedGrid>
      ) : null}
      {infos.length ? <Grid infos={infos} /> : null}
    </section>
  );
}

export function SectionView({ section }: { section: Section }) {
  const { find, flipped } = useScope().settings;
  // A search opens what it finds: a match inside a closed section would look like no match.
  const open = section.open !== flipped.value.includes(section.name) || find.value.trim() !== "";
  const label = visibleText(section.label);
  return (
    <section class="section" aria-label={label} data-section={section.name}>
      <h2 class="section-head">
        <button
          type="button"
          class="inline strong section-toggle"
          aria-expanded={open}
          onClick={() => (flipped.value = toggled(flipped.value, section.name))}
        >
          <ChevronRightIcon size={13} />
          <span class="isolate ellipsis">{label}</span>
          <span class="small quiet section-count">{section.panels.length}</span>
        </button>
        {open && section.panels.filter((p) => p.kind === "scalar").length > 1 ? (
          <SameY name={section.name} label={label} />
        ) : null}
      </h2>
      {open ? <Grid infos={section.panels} short /> : null}
    </section>
  );
}

function SameY({ name, label }: { name: string; label: string }) {
  const { linkedY } = useScope().settings;
  const on = linkedY.value.includes(name);
  return (
    <button
      type="button"
      class="pill section-link"
      aria-pressed={on}
      aria-label={`One y-range for all charts of ${label}`}
      title="One y-range for all charts of this section"
      onClick={() => (linkedY.value = toggled(linkedY.value, name))}
    >
      same y
    </button>
  );
}

function Grid({ infos, short = false }: { infos: readonly PanelInfo[]; short?: boolean }) {
  const [most, setMost] = useState(AT_ONCE);
  return (
    <>
      <PanelGrid infos={infos.slice(0, most)} short={short} />
      {infos.length > most ? (
        <Button class="section-more" onClick={() => setMost(most + AT_ONCE)}>
          Show {Math.min(AT_ONCE, infos.length - most)} more of {infos.length - most}
        </Button>
      ) : null}
    </>
  );
}

function PanelGrid({ infos, short }: { infos: readonly PanelInfo[]; short: boolean }) {
  const { arranged } = useScope();
  const sizes = arranged ? space.value.sizes : {};
  return (
    <SizedGrid sizes={infos.map((info) => sizes[panelId(info)] ?? {})}>
      {(columns) =>
        infos.map((info) => {
          const id = panelId(info);
          if (!arranged) return <Panel key={id} info={info} short={short} />;
          return (
            <Cell
              key={id}
              size={sizes[id] ?? {}}
              columns={columns}
              grip={{ title: info.key, panel: info }}
              onSize={(size) => change((now) => sizeAutomatic(now, id, size))}
              onRemove={() => change((now) => hideAutomatic(now, id))}
            >
              <Panel info={info} short={short} />
            </Cell>
          );
        })
      }
    </SizedGrid>
  );
}
