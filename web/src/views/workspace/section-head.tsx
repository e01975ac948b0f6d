/** The heading of a section of one's own: its name, and what can be done with it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { IconButton, Menu, type MenuItem, TextInput } from "../../components";
import {
  ArrowDownIcon,
  ArrowUpIcon,
  ChevronRightIcon,
  MoreIcon,
  PencilIcon,
  PlusIcon,
  TrashIcon,
} from "../../components/icons";
import { nameText } from "../../lib/format";
import { foldSection, moveSection, type OwnSection, removeSection, renameSection } from "../../lib/workspace";
import { change, editing, space } from "./space";

export function OwnHead({ section }: { section: OwnSection }) {
  const [naming, setNaming] = useState(false);
  const label = nameText(section.name);
  const sections = space.value.sections;
  const at = sections.findIndex((one) => one.id === section.id);
  if (naming) return <Naming section={section} onDone={() => setNaming(false)} />;
  return (
    <h2 class="section-head">
      <button
        type="button"
        class="inline strong section-toggle"
        aria-expanded={!section.closed}
        onClick={() => change((now) => foldSection(now, section.id))}
        onDblClick={() => setNaming(true)}
      >
        <ChevronRightIcon size={13} />
        <span class="isolate ellipsis">{label}</span>
        <span class="small quiet section-count">{section.panels.filter((panel) => !panel.pinned).length}</span>
      </button>
      <span class="section-tools">
        <IconButton
          label={`Add a panel to ${label}`}
          onClick={() => (editing.value = { section: section.id, panel: null })}
        >
          <PlusIcon size={14} />
        </IconButton>
        <Menu
          label={`Section ${label}`}
          button={<MoreIcon size={14} />}
          buttonClass="icon-button"
          items={[
            { key: "name", label: "Rename…", icon: <PencilIcon size={14} />, onPick: () => setNaming(true) },
            ...(at > 0 ? [moveItem(section, "up")] : []),
            ...(at < sections.length - 1 ? [moveItem(section, "down")] : []),
            {
              key: "remove",
              label: "Remove section",
              icon: <TrashIcon size={14} />,
              onPick: () => change((now) => removeSection(now, section.id)),
            },
          ]}
        />
      </span>
    </h2>
  );
}

function moveItem(section: OwnSection, way: "up" | "down"): MenuItem {
  const Icon = way === "up" ? ArrowUpIcon : ArrowDownIcon;
  return {
    key: way,
    label: `Move ${way}`,
    icon: <Icon size={14} />,
    onPick: () => change((now) => moveSection(now, section.id, way === "up" ? -1 : 1)),
  };
}

function Naming({ section, onDone }: { section: OwnSection; onDone(): void }) {
  const [name, setName] = useState(section.name);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => box.current?.select(), []);
  const save = () => {
    if (name.trim() && name !== section.name) change((now) => renameSection(now, section.id, name.trim()));
    onDone();
  };
  return (
    <h2 class="section-head">
      <TextInput
        inputRef={box}
        label="Name of the section"
        value={name}
        maxLength={100}
        onInput={setName}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === "Enter") save();
          if (event.key === "Escape") onDone();
        }}
      />
    </h2>
  );
}
