/** Beginning a report from anywhere in the app. */

import { list } from "../../lib/url";
import { go, param } from "../../router";

/** The runs that a new report is about; without any, the chosen ones. */
export const about = param<string[]>("about", [], list);

/** What the address says of one report does not hold for another. */
export const NOTHING_OPEN = { edit: "", version: "", template: "", about: "" };

/** Opens the editor with a text made from a template, about these runs. */
export function beginReport(runs: readonly string[] = [], template = ""): void {
  go("/report/new", { ...NOTHING_OPEN, part: "", template, about: list.write([...runs]) });
}
