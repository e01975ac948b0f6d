/** How to ask for runs, by examples: a click tries one on the Runs page. */

import { signal } from "@preact/signals";
import { go } from "../router";
import { Dialog } from "./dialog";

export const queryHelpOpen = signal(false);

const EXAMPLES: readonly [string, string][] = [
  ["vae baseline", "both words, in the name, the project or a tag"],
  ["status = failed", "ended with an exception"],
  ["status in (killed, lost)", "disappeared without reporting an end"],
  ["config.lr < 0.01", "by a value of the config; nested ones with /"],
  ["config.optimizer = adam and config.lr >= 1e-3", "both"],
  ["loss.min < 0.3", "good at some point; also .max .mean .first .last"],
  ["loss = nan or loss.nan > 0", "not a number, now or once"],
  ["tags = paper", "has the tag; != does not have it"],
  ["name ~ vae-*-small", "the name matches; without * it contains the text"],
  ["not (name ~ debug or tags = debug)", "neither"],
  ["age < 3d and duration > 15m", "recent and not short"],
  ["created >= 2026-11-01", "by its date"],
  ["findings > 0", "a rule found something wrong"],
  ["config.warmup is null", "has no such value"],
  ["git.branch = main", "made from this branch"],
];

export function QueryHelp() {
  if (!queryHelpOpen.value) return null;
  const close = () => (queryHelpOpen.value = false);
  return (
    <Dialog title="Queries" onClose={close} wide>
      <p class="quiet">A query keeps the runs it is true for. Click one to try it on the Runs page.</p>
      <ul class="query-help">
        {EXAMPLES.map(([query, words]) => (
          <li key={query}>
            <button type="button" class="query-example mono" onClick={() => (close(), go("/runs", { q: query }))}>
              {query}
            </button>
            <span>{words}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
