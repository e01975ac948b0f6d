import { expect, test } from "vitest";
import { findingMarkdown } from "./finding-markdown";
import type { ShownFinding } from "./schema";

const FINDING: ShownFinding = {
  rule: "opt.no-zero-grad",
  severity: "error",
  message: "gradients\npile up",
  place: "train.py:42",
  function: "fit",
  step: 3,
  seen: "grad norm 1.9 -> 3.8",
  fix: "call `optimizer.zero_grad()`",
  lines: [
    { number: 9, before: "x = ```", marked: "", after: "" },
    { number: 10, before: "  ", marked: "loss.backward()", after: "" },
  ],
  related: [],
  changed: false,
  evidence: {},
  id: "opt.no-zero-grad:1",
  series: [],
  metrics: [],
  edits: [],
};

test("place, source, proof and fix, and a fence that the source cannot close", () => {
  expect(
    findingMarkdown(FINDING, "brave-otter", "http://x/#/run/1"),
  ).toBe(`**error: gradients pile up** (\`opt.no-zero-grad\`)

\`train.py:42\` in \`fit\`, step 3

\`\`\`\`python
   9 | x = \`\`\`
> 10 |   loss.backward()
\`\`\`\`

Seen: grad norm 1.9 -> 3.8

Fix: call \`optimizer.zero_grad()\`

Run brave-otter: http://x/#/run/1
`);
});

test("what a finding does not have is left out", () => {
  const bare = { ...FINDING, place: "", function: "", step: null, seen: "", fix: "", lines: [] };
  expect(findingMarkdown(bare, "", "")).toBe("**error: gradients pile up** (`opt.no-zero-grad`)\n");
});
