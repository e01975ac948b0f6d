/** A run's config, nested as it was, searched by name and value. */

import { useMemo, useState } from "preact/hooks";
import { copyText, IconButton } from "../../components";
import { CopyIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import { foldersOf, searchFolders } from "../../lib/nested";
import { CardSearch, NothingFits, PairRow, Section, wordsOf } from "./pieces";

interface ConfigProps {
  readonly config: Readonly<Record<string, unknown>>;
  readonly origins?: Readonly<Record<string, string>>;
}

export function Config({ config, origins = {} }: ConfigProps) {
  const [search, setSearch] = useState("");
  const folders = useMemo(() => foldersOf(config), [config]);
  const amount = Object.keys(config).length;
  if (amount === 0) {
    return (
      <Section title="Config">
        <p class="anywhere quiet card-none">
          No config was recorded. Pass one with <code>stepscope.init(config={"{…}"})</code>; <code>stepscope run</code>{" "}
          records the script's arguments by itself.
        </p>
      </Section>
    );
  }
  const shown = searchFolders(folders, search, wordsOf);
  return (
    <Section
      title="Config"
      aside={
        <>
          <CardSearch title="Config" amount={amount} value={search} onInput={setSearch} />
          <IconButton
            label="Copy as JSON"
            onClick={() => void copyText(JSON.stringify(config, null, 2), "Config copied as JSON")}
          >
            <CopyIcon size={14} />
          </IconButton>
        </>
      }
    >
      <div class="pairs-scroll" {...(amount > 16 ? { tabIndex: 0, role: "group", "aria-label": "Config" } : {})}>
        {shown.map(({ name, entries }) => (
          <div key={name} class="config-folder">
            {name ? <h3 class="isolate mono">{visibleText(name)}</h3> : null}
            <dl class="px-4 py-2 facts pairs">
              {entries.map((entry) => (
                <PairRow
                  key={entry.key}
                  name={entry.name}
                  title={entry.key}
                  value={entry.value}
                  note={origins[entry.key]}
                />
              ))}
            </dl>
          </div>
        ))}
      </div>
      {shown.length === 0 ? <NothingFits search={search} /> : null}
    </Section>
  );
}
