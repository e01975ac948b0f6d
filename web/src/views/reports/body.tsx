/**
 * A report as it is read: text in a comfortable measure, panels a little wider. The same in the app and in a shared
 * file.
 */

import type { ComponentChildren } from "preact";
import { useErrorBoundary, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Button } from "../../components";
import { WarningIcon } from "../../components/icons";
import { inlineView, markdownBlocks } from "../../components/markdown";
import { visibleText } from "../../lib/format";
import { inline } from "../../lib/markdown";
import { huesOf, type ReportBlock, settle, type Shown, type ShownNode } from "../../lib/report-blocks";
import type { PanelBlock } from "../../lib/schema";
import { kindNamed, numberOf, textOf } from "../../panels/panel";
import { reportHues } from "../../state";
import "../../style/report.css";
import "../../style/report-panels.css";
import "../../style/report-print.css";

/** The blocks with keys that outlive a change of the text around them. */
export function useShown(blocks: readonly ReportBlock[]): readonly Shown[] {
  const before = useRef<readonly Shown[]>([]);
  return useMemo(() => (before.current = settle(before.current, blocks)), [blocks]);
}

export interface ReportBodyProps {
  shown: readonly Shown[];
  /** What the editor puts around a panel. */
  around?: (block: PanelBlock, at: number, panel: ComponentChildren) => ComponentChildren;
}

/** While a report is open its runs are told apart from each other, in all panels alike. */
function useReportHues(shown: readonly Shown[]): void {
  useLayoutEffect(() => {
    const mine = huesOf(shown);
    reportHues.value = mine;
    return () => {
      if (reportHues.peek() === mine) reportHues.value = null;
    };
  }, [shown]);
}

export function ReportBody({ shown, around }: ReportBodyProps) {
  useReportHues(shown);
  return (
    <>
      {shown.map((one, at) => {
        if (one.kind === "markdown") return <ReportText key={one.key} tree={one.tree} />;
        const panel = <ReportPanel block={one.block} />;
        return (
          <div
            key={one.key}
            class="report-place"
            data-narrow={kindNamed(one.block.panel)?.narrow || undefined}
            data-line={one.block.line}
          >
            {around ? around(one.block, at, panel) : panel}
          </div>
        );
      })}
    </>
  );
}

function ReportText({ tree }: { tree: readonly ShownNode[] }) {
  return (
    <div class="report-text">
      {tree.map((node, at) =>
        node.kind === "heading" ? <HeadingView key={at} node={node} /> : markdownBlocks([node], 0),
      )}
    </div>
  );
}

function HeadingView({ node }: { node: Extract<ShownNode, { kind: "heading" }> & { id?: string } }) {
  const Tag = `h${Math.min(6, node.level)}` as "h2";
  return (
    <Tag id={node.id ? `at-${node.id}` : undefined} tabIndex={-1}>
      {node.children.map(inlineView)}
    </Tag>
  );
}

/** One panel with its title and caption; what is wrong with it stands in its place. */
export function ReportPanel({ block }: { block: PanelBlock }) {
  const kind = kindNamed(block.panel);
  const [fault, reset] = useErrorBoundary();
  const title = visibleText(textOf(block.options, "title"));
  const caption = visibleText(textOf(block.options, "caption"));
  const height = numberOf(block.options, "height");
  if (block.error || !kind)
    return (
      <PanelProblem
        panel={block.panel}
        error={block.error ?? `this version has no panel ${JSON.stringify(block.panel)}`}
      />
    );
  if (fault) {
    return (
      <PanelProblem panel={block.panel} error={fault instanceof Error ? fault.message : String(fault)}>
        <Button onClick={reset}>Try again</Button>
      </PanelProblem>
    );
  }
  return (
    <figure
      class="report-panel"
      data-panel={block.panel}
      aria-label={title || kind.title}
      style={height ? { "--panel-height": `${Math.min(1200, Math.max(80, height))}px` } : undefined}
    >
      {title ? <p class="report-panel-title isolate">{title}</p> : null}
      <kind.Panel options={block.options} runs={block.runs} />
      {caption ? <figcaption class="isolate">{caption}</figcaption> : null}
    </figure>
  );
}

function PanelProblem({ panel, error, children }: { panel: string; error: string; children?: ComponentChildren }) {
  return (
    <div class="gap-3 anywhere report-problem" role="alert">
      <WarningIcon size={16} />
      <p>
        <span class="isolate">
          {inline(error.toLowerCase().startsWith(panel.toLowerCase()) ? error : `${panel}: ${error}`).map(inlineView)}
        </span>
      </p>
      {children}
    </div>
  );
}
