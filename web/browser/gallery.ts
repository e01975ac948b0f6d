/** Takes the pictures of docs/gallery.md and writes the page around them; `scripts/gallery` runs it. Not a test: nothing is judged. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, test } from "vitest";
import { CHAPTERS, type Shot } from "./gallery-shots";
import { closeBrowser, openTab, Server, type Tab } from "./harness";

const ROOT = resolve(import.meta.dirname, "../..");
const PYTHON = process.env.STEPSCOPE_PYTHON ?? join(ROOT, ".venv/bin/python");
const TARGET = process.env.GALLERY_TO ?? join(ROOT, "docs/images/gallery");
const ONLY = new RegExp(process.env.GALLERY_ONLY ?? ".");
const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

const THEMES = ["light", "dark"] as const;
const SHOTS = CHAPTERS.flatMap((chapter) => chapter.shots);

type Theme = (typeof THEMES)[number];
const file = (name: string, theme: Theme) => `${name}${theme === "dark" ? "-dark" : ""}.webp`;

/** WebP keeps letters sharp at a third of the size of PNG; Chromium makes it, Playwright only does not name it. */
async function take(page: Page, name: string, theme: Theme): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  await session.detach();
  writeFileSync(join(TARGET, file(name, theme)), Buffer.from(data, "base64"));
}

/** GitHub, like most readers of Markdown, then shows the picture that fits the reader's own theme. */
const shown = (shot: Shot): string =>
  [
    "<picture>",
    `<source media="(prefers-color-scheme: dark)" srcset="images/gallery/${file(shot.name, "dark")}">`,
    `<img src="images/gallery/${file(shot.name, "light")}" alt="${shot.title}: ${shot.says}"${shot.phone ? ' width="260"' : ""}>`,
    "</picture>",
  ].join("");

const HEAD = `# What does it look like? The browser app in pictures

\`stepscope ui\` opens it; [ui.md](ui.md) describes the pages. Every picture shows real run folders and is taken, in light and dark, by
\`scripts/gallery\`, which also writes this page; you see the ones that fit your theme.
`;

function page(): string {
  const chapters = CHAPTERS.map(({ title, shots }) => {
    const parts = shots.map((shot) => `**${shot.title}.** ${shot.says}\n\n${shown(shot)}`);
    const phones = shots.every((shot) => shot.phone);
    const words = shots.map((shot) => `**${shot.title}.** ${shot.says}`).join(" ");
    return `## ${title}\n\n${phones ? `${words}\n\n${shots.map(shown).join("\n")}` : parts.join("\n\n")}\n`;
  });
  return [HEAD, ...chapters].join("\n");
}

async function settled(page: Page): Promise<void> {
  await page
    .locator("main .skeleton")
    .first()
    .waitFor({ state: "detached", timeout: 5000 })
    .catch(() => undefined);
  await page.waitForTimeout(500);
}

describe("gallery", () => {
  let server: Server;
  const ids: Record<string, string> = {};
  const tabs = {} as Record<Theme, Tab>;

  beforeAll(async () => {
    mkdirSync(TARGET, { recursive: true });
    server = await Server.start("gallery");
    for (const theme of THEMES) tabs[theme] = await openTab(server, "#/runs", { theme });
    const asked = {
      method: "POST",
      headers: { "X-Stepscope": "1", "Content-Type": "application/json" },
      body: '{"limit": 200}',
    };
    const { rows } = (await tabs.light.page.evaluate(
      async (asked) => (await fetch("/api/runs", asked)).json(),
      asked,
    )) as { rows: { id: string; name: string; project: string }[] };
    for (const row of rows.reverse()) ids[row.name] = ids[`${row.name}@${row.project}`] = row.id;
    ids.report =
      readdirSync(join(server.folder, "stepscope-runs/reports")).find((name) => name.startsWith("what-made")) ?? "";
  });
  afterAll(async () => {
    await closeBrowser();
    await server.stop();
  });

  const address = (shot: Shot) =>
    shot.at.replace(/\{([^}]+)\}/g, (_, name: string) => {
      if (!ids[name])
        throw new Error(`${shot.name}: no run is called ${name}; there are ${Object.keys(ids).join(", ")}`);
      return ids[name];
    });

  for (const shot of SHOTS.filter(({ name }) => ONLY.test(name)))
    test(shot.name, async () => {
      for (const theme of THEMES) {
        const { page } = tabs[theme];
        await page.setViewportSize(shot.phone ? PHONE : DESK);
        await page.goto("about:blank");
        await page.goto(shot.at === "file" ? reportFile() : `${server.url}/${address(shot)}`);
        await page.locator(shot.ready).first().waitFor();
        await settled(page);
        await shot.act?.(page, server);
        await settled(page);
        await take(page, shot.name, theme);
        if (shot.act) await page.keyboard.press("Escape");
      }
    });

  /** The report as the command makes it; the second theme finds the file of the first. */
  function reportFile(): string {
    const made = join(server.folder, "report.html");
    const args = [
      "-m",
      "stepscope",
      "report",
      "--dir",
      join(server.folder, "stepscope-runs"),
      ids.report as string,
      "-o",
      made,
    ];
    if (!existsSync(made)) {
      const done = spawnSync(PYTHON, args, { encoding: "utf8" });
      if (done.status !== 0) throw new Error(done.stderr);
    }
    return `file://${made}`;
  }

  test.runIf(process.env.GALLERY_TO === undefined)("docs/gallery.md", () => {
    writeFileSync(join(ROOT, "docs/gallery.md"), page());
  });
});
