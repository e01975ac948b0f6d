/** Which parameters and metrics are drawn. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Button, Checkbox, Popover, TextInput } from "../../components";
import { ColumnsIcon, SearchIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import { metricOfKey } from "../../lib/param-table";
import type { ParamScope } from "./scope";

const MOST = 80;

interface Choice {
  key: string;
  label: string;
  source: string;
}

export function AxisPicker({ scope }: { scope: ParamScope }) {
  const open = useSignal(false);
  const search = useSignal("");
  const anchor = useRef<HTMLButtonElement>(null);
  const table = scope.table.value;
  const shown = new Set(scope.axes.value.map((column) => column.key));
  const wanted = search.value.trim().toLowerCase();
  const choices = choicesOf(scope).filter((choice) => choice.label.toLowerCase().includes(wanted));
  const toggle = (key: string, on: boolean) => {
    const keys = scope.axes
      .peek()
      .map((column) => column.key)
      .filter((other) => other !== key);
    // New ones go before the metric, which people look for at the right.
    const at = on && keys[keys.length - 1] === table.metric?.key ? keys.length - 1 : keys.length;
    if (on) keys.splice(at, 0, key);
    scope.setAxes(keys);
  };
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class="button"
        aria-haspopup="dialog"
        aria-expanded={open.value}
        onClick={() => (open.value = !open.value)}
      >
        <ColumnsIcon size={14} />
        Axes
      </button>
      {open.value ? (
        <Popover anchor={anchor.current} label="Axes" class="axis-picker" onClose={() => (open.value = false)}>
          <TextInput
            label="Find a parameter or metric"
            placeholder="Find"
            icon={<SearchIcon size={14} />}
            value={search.value}
            onInput={(text) => (search.value = text)}
          />
          <div class="vstack axis-choices">
            {choices.slice(0, MOST).map((choice) => (
              <div key={choice.key}>
                <Checkbox
                  visible
                  label={visibleText(choice.label)}
                  checked={shown.has(choice.key)}
                  onChange={(on) => toggle(choice.key, on)}
                />
                <span class="quiet">{choice.source}</span>
              </div>
            ))}
            {choices.length > MOST ? <p class="quiet">{choices.length - MOST} more; type to find them</p> : null}
          </div>
          <footer>
            <span class="quiet">
              {table.alike > 0
                ? `${table.alike} that ${table.alike === 1 ? "is" : "are"} the same in all runs left out`
                : ""}
            </span>
            <Button kind="quiet" onClick={() => scope.setAxes([])}>
              Usual
            </Button>
          </footer>
        </Popover>
      ) : null}
    </>
  );
}

/** Columns that are here, and metrics that would have to be asked for. */
function choicesOf(scope: ParamScope): Choice[] {
  const { columns, metrics, metricName } = scope.table.value;
  const here = new Set(columns.map((column) => metricOfKey(column.key)));
  const more = metrics.filter((name) => name !== metricName && !here.has(name));
  return [
    ...columns.map((column) => ({ key: column.key, label: column.label, source: column.source })),
    ...more.map((name) => ({
      key: /^[\w/-]+$/.test(name) && !/^\d/.test(name) ? `${name}.best` : `${JSON.stringify(name)}.best`,
      label: name,
      source: "metric",
    })),
  ];
}
