/** A panel as an SVG file: the same lines, ticks and marks as on the screen. */

import { bandStretches, type PlotLine, round, SvgPen, tracePath, windowOf } from "./chart-line";
import { type Axes, type Box, projection } from "./chart-project";
import { type AxesPlan, planAxes } from "./chart-axes";
import { oddSigns } from "./chart-marks";
import type { AxisKind } from "./chart-ticks";

export interface SvgLine {
  line: PlotLine;
  name: string;
  colour: string;
  dash: readonly number[];
}

export interface SvgChart {
  title: string;
  xLabel: string;
  xKind: AxisKind;
  yKind?: AxisKind;
  wholeX?: boolean;
  wholeY?: boolean;
  blankY?: boolean;
  axes: Axes;
  band: boolean;
  lines: readonly SvgLine[];
  width: number;
  height: number;
  inks: { background: string; text: string; quiet: string; grid: string };
}

/** Text and attribute values: nothing in a name may become markup, and control characters are not XML. */
export function escapeXml(text: string): string {
  return text
    .replace(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      "\ufffd",
    )
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;")
    .replace(/'/g, "&#39;");
}

const LEGEND_ROW = 16;
const TITLE = 28;
/** The widest digit of common fonts at 11 pixels; who opens the file may have any of them. */
const LETTER_PX = 6.6;
const LEGEND_MOST = 24;

export function chartSvg(chart: SvgChart): string {
  const named = new Map(chart.lines.map((l) => [l.line.run, l]));
  const legend = [...named.values()].slice(0, LEGEND_MOST);
  const columns = Math.max(1, Math.floor((chart.width - 24) / 180));
  const rows = Math.ceil(legend.length / columns);
  const plan = planAxes(
    chart.axes,
    { width: chart.width, height: chart.height - TITLE - 16 },
    { ...chart, xName: chart.xLabel },
    (label) => label.length * LETTER_PX,
  );
  const box: Box = { ...plan.box, top: plan.box.top + TITLE };
  const height = chart.height + rows * LEGEND_ROW;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${chart.width}" height="${height}" viewBox="0 0 ${chart.width} ${height}" font-family="system-ui, sans-serif" font-size="11">`,
    `<rect width="100%" height="100%" fill="${escapeXml(chart.inks.background)}"/>`,
    `<text x="16" y="22" font-size="13" font-weight="600" fill="${escapeXml(chart.inks.text)}">${escapeXml(chart.title)}</text>`,
    ...axesSvg(chart, plan, box),
    `<clipPath id="plot"><rect x="${box.left}" y="${box.top - 1}" width="${box.width}" height="${box.height + 2}"/></clipPath>`,
    `<g clip-path="url(#plot)">`,
    ...chart.lines.map((line) => lineSvg(line, chart, box)),
    "</g>",
    ...signsSvg(chart, box),
    ...legend.map((line, i) =>
      legendSvg(line, 16 + (i % columns) * 180, chart.height + Math.floor(i / columns) * LEGEND_ROW, chart),
    ),
    "</svg>",
  ];
  return parts.join("\n");
}

function axesSvg(chart: SvgChart, plan: AxesPlan, box: Box): string[] {
  const grid = escapeXml(chart.inks.grid);
  const quiet = escapeXml(chart.inks.quiet);
  const bottom = box.top + box.height;
  const rows = plan.y.map(({ px, text }) => {
    const y = round(px + TITLE);
    return `<path d="M${box.left} ${y}H${box.left + box.width}" stroke="${grid}"/><text x="${box.left - 7}" y="${round(y + 4)}" text-anchor="end" fill="${quiet}">${escapeXml(text)}</text>`;
  });
  const columns = plan.x.map(
    ({ px, text }) =>
      `<text x="${round(px)}" y="${bottom + 18}" text-anchor="middle" fill="${quiet}">${escapeXml(text)}</text>`,
  );
  const name = `<text x="${round(box.left + box.width / 2)}" y="${bottom + 32}" text-anchor="middle" fill="${quiet}">${escapeXml(plan.xName)}</text>`;
  return [...rows, ...columns, name];
}

function lineSvg({ line, colour, dash }: SvgLine, chart: SvgChart, box: Box): string {
  const at = projection(chart.axes, box);
  const span = windowOf(line.x, chart.axes.x);
  const ink = escapeXml(colour);
  const parts: string[] = [];
  if (chart.band) {
    for (const [from, to] of bandStretches(line, span, at)) {
      const pen = new SvgPen();
      for (let i = from; i < to; i++)
        pen[i === from ? "moveTo" : "lineTo"](at.x(line.x[i] as number), at.y(line.high[i] as number));
      for (let i = to - 1; i >= from; i--) pen.lineTo(at.x(line.x[i] as number), at.y(line.low[i] as number));
      parts.push(`<path d="${pen}Z" fill="${ink}" fill-opacity="0.15"/>`);
    }
  }
  const dashes = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
  const stroke = (ys: Float64Array, opacity: number): void => {
    const pen = new SvgPen();
    const alone = tracePath(pen, line.x, ys, span, at);
    const faded = opacity < 1 ? ` stroke-opacity="${opacity}"` : "";
    parts.push(
      `<path d="${pen}" fill="none" stroke="${ink}" stroke-width="1.5" stroke-linejoin="round"${dashes}${faded}/>`,
    );
    for (const [x, y] of alone)
      parts.push(`<circle cx="${round(x)}" cy="${round(y)}" r="2.5" fill="${ink}" fill-opacity="${opacity}"/>`);
  };
  const faded = line.superseded ? 0.4 : 1;
  if (line.smooth) {
    stroke(line.value, 0.25 * faded);
    stroke(line.smooth, faded);
  } else stroke(line.value, faded);
  return parts.join("");
}

const SIGNS = {
  nan: (ink: string) => `<path d="M-3 -3l6 6m0 -6l-6 6" stroke="${ink}" stroke-width="1.5"/><title>NaN</title>`,
  posInf: (ink: string) => `<path d="M-4 3.5h8l-4 -7z" fill="${ink}"/><title>+Inf</title>`,
  negInf: (ink: string) => `<path d="M-4 -3.5h8l-4 7z" fill="${ink}"/><title>-Inf</title>`,
};

function signsSvg(chart: SvgChart, box: Box): string[] {
  const signs = oddSigns(
    chart.lines.map((l) => l.line),
    projection(chart.axes, box),
    box,
    chart.axes.x,
  );
  return signs.map(
    ({ kind, line, x, y }) =>
      `<g transform="translate(${round(x)} ${round(y)})">${SIGNS[kind](escapeXml(chart.lines[line]?.colour ?? ""))}</g>`,
  );
}

function legendSvg(line: SvgLine, x: number, y: number, chart: SvgChart): string {
  const name = line.name.length > 26 ? `${line.name.slice(0, 25)}…` : line.name;
  const dashes = line.dash.length ? ` stroke-dasharray="${line.dash.join(" ")}"` : "";
  return `<path d="M${x} ${y}h14" stroke="${escapeXml(line.colour)}" stroke-width="2"${dashes}/><text x="${x + 20}" y="${y + 4}" fill="${escapeXml(chart.inks.text)}">${escapeXml(name)}</text>`;
}
