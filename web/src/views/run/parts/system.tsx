/** What the machine did while the run went on. */

import { useMemo } from "preact/hooks";
import { EmptyState, Lesson, Lessons } from "../../../components";
import { SystemIcon } from "../../../components/icons";
import { visibleText } from "../../../lib/format";
import type { RunDetail } from "../../../lib/schema";
import { systemPanels, SYSTEM_GROUPS } from "../../../lib/system-groups";
import { ChartBoard } from "../../charts/board";
import { ownSettings } from "../../charts/settings";
import { hardwareOf } from "../machine";
import { wordsOf } from "../pieces";

export function SystemPart({ run }: { run: RunDetail }) {
  const settings = useMemo(() => ownSettings({ x: "relative" }), []);
  const facts = hardwareOf(run);
  return (
    <div class="page">
      {facts.length > 0 ? (
        <dl class="wraps rigid under subtle facts system-facts">
          {[["host", run.environment.host] as const, ...facts].map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="isolate">{visibleText(wordsOf(value))}</dd>
            </div>
          ))}
        </dl>
      ) : null}
      {run.parts.system === 0 ? (
        <NoSystem />
      ) : (
        <ChartBoard runs={[run.id]} settings={settings} arrange={systemPanels} empty={<NoSystem />} />
      )}
    </div>
  );
}

function NoSystem() {
  return (
    <EmptyState title="No system metrics were recorded" icon={SystemIcon}>
      <p>
        {SYSTEM_GROUPS.join(", ")}: they are measured every few seconds beside the training, unless that was switched
        off or the run was shorter.
      </p>
      <Lessons>
        <Lesson title="It is on by default" text={'stepscope.init(project="first", system=True)'} />
      </Lessons>
    </EmptyState>
  );
}
