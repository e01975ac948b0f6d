import { signal } from "@preact/signals";
import { Dialog } from "./dialog";
import { Key } from "./key";

export const helpOpen = signal(false);

export interface Shortcut {
  keys: string;
  does: string;
  section: string;
}

/** All shortcuts by section; the top bar and the pages add theirs with `describeKeys` when they load. */
const shortcuts = signal<Shortcut[]>([]);

export function describeKeys(section: string, keys: Record<string, string>): void {
  const others = shortcuts.peek().filter((one) => one.section !== section);
  shortcuts.value = [...others, ...Object.entries(keys).map(([key, does]) => ({ section, keys: key, does }))];
}

/** In the order of the pages. */
function rank(section: string): number {
  const at = [
    "Everywhere",
    "Runs",
    "Run",
    "Charts",
    "Compare",
    "Parameters",
    "Media",
    "Distributions",
    "Model",
    "Profile",
    "Reports",
  ].indexOf(section);
  return at < 0 ? 99 : at;
}

export function Help() {
  if (!helpOpen.value) return null;
  const sections = [...new Set(shortcuts.value.map((one) => one.section))].sort((a, b) => rank(a) - rank(b));
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => (helpOpen.value = false)} wide>
      <div class="help-grid">
        {sections.map((section) => (
          <section key={section}>
            <h3>{section}</h3>
            <dl class="facts help-list">
              {shortcuts.value
                .filter((one) => one.section === section)
                .map((one) => (
                  <div key={one.keys}>
                    <dt>
                      {one.keys
                        .split(" ")
                        .flatMap((key) => (key.length > 1 ? key.split("+") : [key]))
                        .map((key) => (
                          <Key key={key}>{key}</Key>
                        ))}
                    </dt>
                    <dd>{one.does}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
      <p class="quiet">Pages add their own keys when they are first opened.</p>
    </Dialog>
  );
}
