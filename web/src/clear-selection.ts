/** Choosing no runs any more, in a way that can be taken back: a choice of many took many clicks. */

import { remember } from "./components/undo";
import { count } from "./lib/format";
import { hidden, selected, setSelected } from "./state";

export function clearSelection(): void {
  const chosen = selected.peek();
  const closed = hidden.peek();
  if (chosen.length === 0) return;
  setSelected([]);
  const undo = (): void => {
    setSelected(chosen);
    hidden.value = closed;
  };
  remember(
    { words: `clear the selection of ${count(chosen.length, "run")}`, undo, redo: () => setSelected([]) },
    `${count(chosen.length, "run")} deselected.`,
  );
}
