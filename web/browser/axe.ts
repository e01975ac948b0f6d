/** Accessibility as axe-core sees it: what it calls serious or critical is a fault of the page. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Axe calls these moderate; who moves from heading to heading is lost without them. */
const HEADINGS = new Set(["heading-order", "page-has-heading-one", "empty-heading"]);

interface Violation {
  id: string;
  impact: string | null;
  help: string;
  nodes: { target: unknown[]; failureSummary?: string }[];
}

export interface AxeOptions {
  /** Look only at what this selector finds. */
  include?: string;
  /** Rules to leave out, each with its reason beside the call. */
  without?: string[];
  /** Only these rules. */
  only?: string[];
  /** Headings out of order are faults too. */
  headings?: boolean;
}

/**
 * The serious and critical faults of a page as one line each: `color-contrast (2): … at .quiet, .menu-hint`.
 * Playwright evaluates in the page's own world past its content policy, so that nothing has to be loosened for the test.
 */
export async function axeFaults(page: Page, options: AxeOptions = {}): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const found = await page.evaluate(
    async ({ include, without, only }) => {
      // What is half faded in has not the colours it is meant to have.
      const moving = document
        .getAnimations()
        .filter((one) => Number.isFinite(one.effect?.getComputedTiming().endTime as number));
      await Promise.all(moving.map((one) => one.finished.catch(() => undefined)));
      const axe = (
        window as unknown as { axe: { run(at: unknown, options: unknown): Promise<{ violations: unknown[] }> } }
      ).axe;
      const rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
      const runOnly = only.length > 0 ? { runOnly: { type: "rule", values: only } } : { rules };
      const result = await axe.run(include ?? document, { resultTypes: ["violations"], ...runOnly });
      return result.violations as Violation[];
    },
    { include: options.include ?? null, without: options.without ?? [], only: options.only ?? [] },
  );
  return found
    .filter(
      (one) => one.impact === "serious" || one.impact === "critical" || (options.headings && HEADINGS.has(one.id)),
    )
    .map(inWords);
}

function inWords(fault: Violation): string {
  const places = fault.nodes.slice(0, 4).map((node) => node.target.join(" "));
  const why =
    fault.id === "color-contrast" ? ` [${/contrast of [\d.]+/.exec(fault.nodes[0]?.failureSummary ?? "")?.[0]}]` : "";
  return `${fault.id} (${fault.nodes.length}): ${fault.help} at ${places.join(", ")}${why}`;
}
