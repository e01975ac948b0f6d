/** The pictures of docs/gallery.md: where each is taken, what is done first, and the question it answers. */

import type { Page } from "playwright-core";
import type { Server } from "./harness";

export interface Shot {
  name: string;
  title: string;
  /** One sentence: the question that the picture answers. */
  says: string;
  /** The address after the server's; `{name}` stands for the id of the run of that name. */
  at: string;
  /** What has to be there before the picture is taken. */
  ready: string;
  act?: (page: Page, server: Server) => Promise<void>;
  phone?: boolean;
}

export interface Chapter {
  title: string;
  shots: Shot[];
}

/** Once for both themes. */
let broke = false;
let tried = false;

const PLOT = ".plot:not([data-loading])";
const LM = "{small-lm-08-wide}";
const PAIR = "runs={wide-before},{wide-after}";
const VAES = "runs={baseline@vae},{lr 3e-3@vae},{wide encoder},{no warm-up},{diverges}";
const SEEDS = ["baseline", "mixup", "cutmix"]
  .flatMap((arm) => [0, 1, 2, 3].map((seed) => `{${arm}-s${seed}}`))
  .join(",");
const SCENES = "runs={wide decoder},{baseline@scenes},{no skip}";

const section = (title: string) => async (page: Page) => {
  await page.getByRole("navigation", { name: "Sections" }).getByRole("button", { name: title, exact: true }).click();
  await page.waitForTimeout(600);
};

export const CHAPTERS: Chapter[] = [
  {
    title: "Find a run",
    shots: [
      {
        name: "runs",
        title: "Runs",
        says: "What have I run, how did it end, and which is best?",
        at: "#/runs?project=cifar100&sort=-val/accuracy.max&cols=status,spark,val/accuracy.max,val/loss.min,config.lr,config.optimizer,config.depth,config.augment,config.dropout,created,duration",
        ready: ".run-name",
      },
      {
        name: "runs-groups",
        title: "Runs in groups",
        says: "How do the settings differ, whatever the seed?",
        at: "#/runs?project=cifar&group=group",
        ready: ".run-name",
      },
      {
        name: "palette",
        title: "Everything, by name",
        says: "Where is that run, metric, finding or printed line? Ctrl+K finds it and goes there.",
        at: "#/runs",
        ready: ".run-name",
        act: async (page) => {
          await page.keyboard.press("Control+k");
          await page.getByRole("combobox", { name: /Find a page/ }).fill("loss");
          await page.waitForTimeout(900);
        },
      },
    ],
  },
  {
    title: "Look at one run",
    shots: [
      {
        name: "run",
        title: "Overview",
        says: "How did it end, what is wrong, and how do I make it again?",
        at: `#/run/${LM}`,
        ready: ".main-charts canvas",
      },
      {
        name: "run-findings",
        title: "Findings",
        says: "What is wrong, on which line, and how do we know?",
        at: `#/run/${LM}?part=findings`,
        ready: ".finding",
      },
      {
        name: "run-console",
        title: "Console",
        says: "What did it print at the step where it broke?",
        at: "#/run/{vae-kl-explodes}?part=console",
        ready: "[role=tabpanel]",
      },
      {
        name: "run-files",
        title: "Files",
        says: "Which weights did it keep, and what is in them?",
        at: "#/run/{vae-kl-explodes}?part=files",
        ready: "[role=tabpanel]",
        act: async (page) => {
          await page.getByRole("button", { name: "v1 best" }).click();
          await page.getByRole("button", { name: "README.md" }).first().click();
          await page.waitForTimeout(600);
        },
      },
      {
        name: "run-step",
        title: "Step",
        says: "At which operation was the first value that is not finite born?",
        at: "#/run/{vae-kl-explodes}?part=step",
        ready: "main table, [role=grid], [role=table]",
      },
      {
        name: "run-system",
        title: "System",
        says: "Was the machine busy all the time?",
        at: `#/run/${LM}?part=system`,
        ready: PLOT,
      },
    ],
  },
  {
    title: "Compare",
    shots: [
      {
        name: "charts",
        title: "Charts",
        says: "How did they go, side by side?",
        at: `#/charts?${VAES}&smooth=ema:0.6`,
        ready: PLOT,
      },
      {
        name: "charts-bands",
        title: "Bands over seeds",
        says: "Is the difference larger than what the seed does?",
        at: `#/charts?by=group&wide=2&size=l&runs=${SEEDS}`,
        ready: PLOT,
      },
      {
        name: "compare-changed",
        title: "What changed",
        says: "Why does this run fail and that one not?",
        at: `#/compare?${PAIR}`,
        ready: ".changed-headline",
      },
      {
        name: "compare-metrics",
        title: "Metrics against a baseline",
        says: "Which setting is better, and is it chance?",
        at: `#/compare?by=group&base=%5B%22baseline%22%5D&runs=${SEEDS}`,
        ready: ".compare-page, main nav",
        act: section("Metrics"),
      },
      {
        name: "compare-config",
        title: "Config, only what differs",
        says: "What was set differently, to the word?",
        at: `#/compare?${PAIR}`,
        ready: ".changed-headline",
        act: section("Config"),
      },
    ],
  },
  {
    title: "Search parameters",
    shots: [
      {
        name: "sweeps",
        title: "Sweeps",
        says: "How far is the sweep, and what is the best so far?",
        at: "#/sweeps",
        ready: ".sweep-charts .axis-title",
        act: async (page, server) => {
          if (!tried) await server.tell("try");
          tried = true;
          await page.locator(".sweep-state[data-state=running]").waitFor();
        },
      },
      {
        name: "parameters-parallel",
        title: "Parallel coordinates",
        says: "Which values do the good runs have in common?",
        at: "#/parameters?project=cifar100&metric=val/accuracy",
        ready: ".axis-title",
      },
      {
        name: "parameters-scatter",
        title: "Scatter matrix",
        says: "How do two parameters and the metric go together?",
        at: "#/parameters?project=cifar100&pview=scatter&metric=val/accuracy",
        ready: ".scatter canvas",
      },
      {
        name: "parameters-importance",
        title: "Importance",
        says: "Which parameter matters, and which way?",
        at: "#/parameters?project=cifar100&pview=importance&metric=val/accuracy",
        ready: ".importance-table",
      },
    ],
  },
  {
    title: "See, hear and read what was logged",
    shots: [
      {
        name: "media",
        title: "Images",
        says: "What do the models draw, at the same step?",
        at: `#/media?mkind=image&msize=300&${SCENES}`,
        ready: ".media-key img",
        act: (page) =>
          page
            .locator('.media-key[data-key="val/detections"]')
            .evaluate((row) => (row.scrollIntoView(), row.closest(".media-scroll")?.scrollBy(0, -40))),
      },
      {
        name: "media-wipe",
        title: "Two pictures, wiped",
        says: "Where exactly do two runs differ?",
        at: `#/media?mkind=image&${SCENES}`,
        ready: ".media-key img",
        act: async (page) => {
          await page.locator('.media-key[data-key="val/reconstruction"]').getByRole("button").first().click();
          await page.getByRole("dialog").getByRole("radio", { name: "Wipe" }).click();
          await page.waitForTimeout(600);
        },
      },
      {
        name: "media-embedding",
        title: "Embedding",
        says: "Which examples does the model think are alike?",
        at: `#/media?mkind=embedding&${SCENES}`,
        ready: "[role=application]",
        act: (page) => page.waitForTimeout(2500),
      },
      {
        name: "media-table",
        title: "Tables",
        says: "Which examples does it get wrong?",
        at: `#/media?mkind=table&${SCENES}`,
        ready: ".grid-row",
        act: (page) => page.getByLabel("Search the table").fill("right=false score>0.5"),
      },
      {
        name: "distributions",
        title: "Distributions",
        says: "Which layer dies, and when?",
        at: "#/distributions?runs={lr 1e-1, dies}&dq=stage2",
        ready: "main canvas",
      },
    ],
  },
  {
    title: "Look inside a step",
    shots: [
      {
        name: "model",
        title: "Model",
        says: "What is my model, and what does each part cost?",
        at: "#/model?of={gpt-6-layers}",
        ready: ".graph-viewer",
        act: (page) => page.waitForTimeout(1200),
      },
      {
        name: "profile",
        title: "Profile",
        says: "Where does the time of a step go, and what should I change?",
        at: "#/profile?of={gpt on a GPU}",
        ready: ".verdict",
      },
      {
        name: "profile-python",
        title: "Python",
        says: "Which of my functions take the time?",
        at: "#/profile?of={gpt on a GPU}&tab=python",
        ready: "main canvas",
        act: (page) => page.waitForTimeout(800),
      },
      {
        name: "timeline",
        title: "Timeline",
        says: "What ran when, and what waited for what?",
        at: "#/profile?of={gpt on a GPU}&tab=timeline",
        ready: "main canvas",
        act: (page) => page.waitForTimeout(1500),
      },
    ],
  },
  {
    title: "Tell others",
    shots: [
      { name: "reports", title: "Reports", says: "What did we find out so far?", at: "#/reports", ready: "main a" },
      {
        name: "report",
        title: "A report",
        says: "What is the result, and what shows it?",
        at: "#/report/{report}",
        ready: PLOT,
      },
      {
        name: "report-file",
        title: "One file",
        says: "How do I send it? One HTML file that opens without a server or a network, charts that zoom included.",
        at: "file",
        ready: PLOT,
      },
      {
        name: "report-editor",
        title: "The editor",
        says: "How do I say it? Markdown on the left, the live page on the right.",
        at: "#/report/{report}?edit=1",
        ready: PLOT,
      },
    ],
  },
  {
    title: "On a phone",
    shots: [
      {
        name: "phone-runs",
        title: "Runs",
        says: "Is it still going?",
        at: "#/runs?project=cifar",
        ready: ".run-name",
        phone: true,
      },
      {
        name: "phone-run",
        title: "A run",
        says: "Why did it stop?",
        at: `#/run/${LM}`,
        ready: ".run-head",
        phone: true,
      },
      {
        name: "phone-charts",
        title: "Charts",
        says: "Does the loss still fall?",
        at: `#/charts?${VAES}`,
        ready: PLOT,
        phone: true,
      },
    ],
  },
  {
    title: "Hear of trouble",
    shots: [
      {
        name: "notifications",
        title: "Notifications",
        says: "What went wrong while I was not looking?",
        at: "#/runs?project=cifar100",
        ready: ".run-name",
        act: async (page, server) => {
          if (!broke) {
            await server.tell("start noble-lynx");
            await page.waitForTimeout(1500); // the page has to have seen it well before it breaks
            await server.tell("nan");
            await server.tell("find gradients of earlier steps are still there when backward runs");
            broke = true;
          }
          await page.getByRole("button", { name: "Notifications, 2 new" }).click();
          await page
            .getByRole("dialog", { name: "Notifications" })
            .getByText(/train\.py:3/)
            .first()
            .waitFor();
        },
      },
    ],
  },
];
