/** Nothing to show: how to take a profile, what is broken, or why a tab is empty. */

import { Button, EmptyState, Lesson, Lessons } from "../../components";
import { ChartIcon, WarningIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import type { ShownProfile } from "../../lib/schema";
import { Prose } from "./words";

const API = `import stepscope

with stepscope.profile() as p:
    for batch in loader:
        step(batch)
        p.step()
print(p.verdict())`;

export function NoProfile({ run }: { run: string }) {
  return (
    <EmptyState title={run ? "This run has no profile" : "No profile yet"} icon={ChartIcon}>
      <p>A profile shows where the time and the memory of a step go, and what to change.</p>
      <Lessons>
        <Lesson title="Profile a script, unchanged" text="stepscope profile train.py" />
        <Lesson title="Open what another tool recorded" text="stepscope profile --open trace.json.gz" />
        <Lesson title="Or from your own loop" text={API} />
      </Lessons>
    </EmptyState>
  );
}

export function DamagedProfile({ profile }: { profile: ShownProfile }) {
  return (
    <EmptyState title="This profile cannot be read" icon={WarningIcon}>
      <p class="state-message">{visibleText(profile.error ?? "")}</p>
      <p>The run's other profiles can be chosen above.</p>
    </EmptyState>
  );
}

export interface NothingProps {
  tab: string;
  why: string;
  /** Names of the tabs that have something, and how to get there. */
  others: readonly { name: string; onGo(): void }[];
}

export function NothingHere({ tab, why, others }: NothingProps) {
  return (
    <EmptyState title={`${tab}: nothing in this profile`}>
      <p>
        <Prose text={why || "This profile has no such data."} />
      </p>
      {others.length > 0 ? (
        <div class="hstack wraps gap-2 centered">
          <span>There is data in</span>
          {others.map(({ name, onGo }) => (
            <Button key={name} onClick={onGo}>
              {name}
            </Button>
          ))}
        </div>
      ) : null}
    </EmptyState>
  );
}
