import { describe, expect, it } from "vitest";
import { cpuMs } from "./cpu-fixtures";
import { inline, parseMarkdown, safeLink } from "./markdown";

describe("Markdown", () => {
  it("reads headings, lists, code, quotes, rules and tables", () => {
    expect(
      parseMarkdown("# Hi\n\ntext\n\n- a\n  - b\n- c\n\n> q\n\n```py\nx = 1\n```\n---\n| h |\n|---|\n| 1 |").map(
        (b) => b.kind,
      ),
    ).toEqual(["heading", "paragraph", "list", "quote", "code", "rule", "table"]);
  });
  it("nests lists by their indent", () => {
    const [list] = parseMarkdown("- a\n  - b\n- c");
    expect(list).toMatchObject({
      kind: "list",
      items: [[{ kind: "paragraph" }, { kind: "list" }], [{ kind: "paragraph" }]],
    });
  });
  it("reads emphasis, code and links inside a line", () => {
    expect(inline("a **b** *c* `d` [e](https://x.org)").map((n) => n.kind)).toEqual([
      "text",
      "strong",
      "text",
      "em",
      "text",
      "code",
      "text",
      "link",
    ]);
  });
  it("takes a backslash before a mark as text, and two spaces at an end of a line as a break", () => {
    expect(inline("\\*a\\* b\\_c C:\\dir")).toEqual([{ kind: "text", text: "*a* b_c C:\\dir" }]);
    expect(inline("one  \ntwo\nthree").map((n) => n.kind)).toEqual(["text", "break", "text"]);
  });
  it("knows how a table's columns are aligned, and a bar that is text", () => {
    const [table] = parseMarkdown("| run | loss |\n|:--|--:|\n| a \\| b | 1 |");
    expect(table).toMatchObject({
      kind: "table",
      align: ["left", "right"],
      rows: [[[{ kind: "text", text: "a | b" }], [{ kind: "text", text: "1" }]]],
    });
  });
  it("leaves names with underscores alone", () => {
    expect(inline("grad_norm_total")).toEqual([{ kind: "text", text: "grad_norm_total" }]);
  });
});

describe("what it must never do", () => {
  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "//evil.org",
    "/api/runs",
    " javascript:alert(1)",
    'https://x"onclick=',
    "https://x'y",
  ])("follow %s", (href) => {
    expect(safeLink(href)).toBeNull();
    expect(JSON.stringify(inline(`[x](${href})`))).not.toContain('"kind":"link"');
  });
  it("make HTML of anything: it stays text", () => {
    expect(parseMarkdown("<script>alert(1)</script>")).toEqual([
      { kind: "paragraph", children: [{ kind: "text", text: "<script>alert(1)</script>" }] },
    ]);
  });
  it("load an image: it only names it", () => {
    expect(inline("![cat](https://x.org/c.png)")).toEqual([{ kind: "image", alt: "cat", href: "https://x.org/c.png" }]);
  });
  it("take long over hostile input", () => {
    const started = cpuMs();
    for (const evil of [
      "[".repeat(50_000),
      "*".repeat(50_000),
      "`".repeat(49_999),
      "> ".repeat(20_000),
      "- ".repeat(20_000),
      "![](".repeat(20_000),
      "_a".repeat(50_000),
      "|".repeat(50_000),
    ])
      parseMarkdown(evil);
    expect(cpuMs() - started).toBeLessThan(1000);
  });
});
