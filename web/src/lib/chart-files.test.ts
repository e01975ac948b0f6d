import { describe, expect, it } from "vitest";
import { csvText, linesCsv, tableCsv } from "./chart-csv";
import { lineOf } from "./chart-fixtures";
import { chartSvg, escapeXml } from "./chart-svg";

describe("CSV", () => {
  it("has a row per bucket with its extremes, and says what was not finite", () => {
    const line = lineOf([1, null], { low: [0, null], high: [2, null], nan: [1] });
    expect(linesCsv([line], "step", () => "first, try")).toBe(
      'run,name,metric,rank,step,value,smoothed,min,max,not_finite\r\na,"first, try",loss,0,0,1,,0,2,\r\na,"first, try",loss,0,1,,,,,NaN\r\n',
    );
  });
  it.each(["=1+1", "+1", "-1", "@x", "\tx", '=HYPERLINK("http://x")'])("makes no formula of %s", (text) => {
    expect(csvText(text).replace(/^"/, "")).toMatch(/^'/);
  });
  it("writes tables, with numbers as they are", () => {
    expect(
      tableCsv(
        ["a", "=b"],
        [
          [-1.5, null],
          ["x\ny", 'q"'],
        ],
      ),
    ).toBe('a,\'=b\r\n-1.5,\r\n"x\ny","q"""\r\n');
  });
});

describe("SVG", () => {
  const chart = {
    title: "<script>alert(1)</script>",
    xLabel: "Step",
    xKind: "number" as const,
    axes: { x: [0, 3] as const, y: [0, 4] as const, logX: false, logY: false },
    band: true,
    width: 400,
    height: 300,
    inks: { background: "#fff", text: "#000", quiet: "#888", grid: "#eee" },
    lines: [
      {
        line: lineOf([1, null, 3, 4], { nan: [1], low: [0, null, 3, 4], high: [2, null, 3, 4] }),
        name: "a & b",
        colour: "#123456",
        dash: [4, 2],
      },
    ],
  };
  it("shows names as text, whatever they hold", () => {
    const svg = chartSvg(chart);
    expect(svg).toContain("&lt;script&gt;");
    expect(svg).not.toContain("<script");
    expect(svg).toContain("a &amp; b");
    expect(escapeXml("\u0000\ud800\"'")).toBe("\ufffd\ufffd&quot;&#39;");
  });
  it("has the line, the dot that stands alone and the mark of the NaN", () => {
    const svg = chartSvg(chart);
    expect(svg).toMatch(/stroke="#123456" stroke-width="1.5" stroke-linejoin="round" stroke-dasharray="4 2"/);
    expect(svg).toMatch(/<circle [^>]*fill="#123456"/);
    expect(svg).toContain("<title>NaN</title>");
  });
  it("is one well-formed document", () => {
    const svg = chartSvg(chart);
    expect(svg.startsWith("<svg ")).toBe(true);
    expect(svg.endsWith("</svg>")).toBe(true);
    expect(svg).not.toMatch(/NaN(?!<\/title>)|Infinity|undefined/);
  });
});
