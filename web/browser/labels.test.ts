/** Never a wrong picture: no label of any chart is cut, squeezed or covered, in both themes, at three sizes, with awkward numbers; and no page jumps. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closeBrowser, idsOf, noBrowser, openTab, quiet, Server, still, type Tab } from "./harness";
import { labelFaults, watchLabels } from "./labels";
import { oneByOne, type Order, shiftsOf, watchShifts } from "./settled";

const SIZES = [
  { width: 390, height: 2400 },
  { width: 1440, height: 1800 },
  { width: 2560, height: 1440 },
];

/** Pages with charts, each with runs that fill it. */
const PAGES: readonly (readonly [address: string, ...runs: string[]])[] = [
  ["charts?logy=1", "cosine + EMA", "baseline-s0"],
  ["media", "wide decoder", "no skip"],
  ["distributions", "lr 1e-3", "lr 1e-1, dies"],
  ["parameters?pview=parallel"],
  ["parameters?pview=scatter"],
  ["parameters?pview=best"],
  ["parameters?pview=importance"],
  ["compare", "baseline-s0", "cutmix-s0"],
  ["profile?tab=timeline", "gpt on a GPU"],
  ["profile?tab=memory", "gpt on a GPU"],
  ["profile?tab=overview", "gpt on a GPU"],
];

/** Pages without charts, and the parts of a run. */
const OTHERS: readonly (readonly [address: string, ...runs: string[]])[] = [
  ["runs"],
  ["reports"],
  // As they open by themselves, with runs that the page chooses.
  ["charts"],
  ["compare"],
  ["media"],
  ["distributions"],
  ["profile"],
  ["model"],
  ["model", "vae-kl-explodes"],
  ["run/RUN", "small-lm-08-wide"],
  ["run/RUN?part=findings", "small-lm-08-wide"],
  ["run/RUN?part=system", "small-lm-08-wide"],
  ["run/RUN?part=console", "vae-kl-explodes"],
  ["run/RUN?part=files", "vae-kl-explodes"],
  ["run/RUN?part=step", "vae-kl-explodes"],
];

/** What people do not notice. */
const MOST_SHIFT = 0.05;

describe.skipIf(noBrowser)("pictures", () => {
  const servers: Server[] = [];
  let awkward: Tab;
  let everything: Tab;
  let ids: Map<string, string>;

  async function tabOf(kind: "awkward" | "everything"): Promise<Tab> {
    const server = await Server.start(kind);
    servers.push(server);
    const tab = await openTab(server);
    await tab.page.addInitScript(watchLabels);
    await tab.page.addInitScript(watchShifts);
    return tab;
  }

  beforeAll(async () => {
    [awkward, everything] = await Promise.all([tabOf("awkward"), tabOf("everything")]);
    ids = await idsOf(everything.page);
  });
  afterAll(async () => {
    await closeBrowser();
    for (const server of servers) await server.stop();
  });

  const address = ({ page }: Tab): string => new URL("/", page.url()).href;

  /** From nothing: a new fragment alone would load nothing. */
  async function open(page: Page, address: string): Promise<void> {
    await page.goto("about:blank");
    await page.goto(address);
    await page.locator("main").waitFor();
  }

  async function look(page: Page, address: string): Promise<string[]> {
    const found = new Set<string>();
    let seen = 0;
    await open(page, address);
    for (const size of SIZES) {
      await page.setViewportSize(size);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await quiet(page);
        await still(page, "main").catch((error: Error) => {
          throw new Error(`${address} at ${size.width}: ${error.message}`);
        });
        const { texts, faults } = await labelFaults(page);
        seen += texts;
        for (const fault of faults) found.add(`${size.width} ${fault}`);
      }
    }
    expect(seen, `labels at ${address}`).toBeGreaterThan(20);
    return [...found];
  }

  test("awkward numbers", async () => {
    for (const query of ["", "?x=relative", "?x=wall", "?logx=1&logy=1"])
      expect(await look(awkward.page, `${address(awkward)}#/charts${query}`), query).toEqual([]);
  });

  const addressOf = ([page, ...runs]: readonly [string, ...string[]]): string => {
    const chosen = runs.map((name) => ids.get(name)).join(",");
    return `${address(everything)}#/${page.replace("RUN", chosen)}${runs.length ? `${page.includes("?") ? "&" : "?"}runs=${chosen}&of=${ids.get(runs[0] ?? "")}` : ""}`;
  };

  test("every page with charts", async () => {
    const found: Record<string, string[]> = {};
    for (const page of PAGES) {
      const faults = await look(everything.page, addressOf(page));
      if (faults.length > 0) found[page[0]] = faults;
    }
    expect(found).toEqual({});
  });

  const everyNight: [string, Order, number][] = [
    ["with charts", "last asked", 390],
    ["without", "first asked", 2560],
  ];
  test.each<[string, Order, number]>([
    ["with charts", "first asked", 2560],
    ["without", "last asked", 390],
    ...(process.env.STEPSCOPE_NIGHTLY ? everyNight : []),
  ])("no page %s jumps while it loads, answered one by one: %s, at %i px", async (kind, order, width) => {
    const { page } = everything;
    await page.setViewportSize({ width, height: 900 });
    const addresses = (kind === "without" ? OTHERS : PAGES).map((one) => [one[0], addressOf(one)] as const);
    const release = await oneByOne(page, order);
    const found: Record<string, string[]> = {};
    for (const [name, at] of addresses) {
      await open(page, at);
      await quiet(page);
      await still(page, "main");
      const { sum, moved } = await shiftsOf(page);
      if (sum > MOST_SHIFT) found[name] = moved;
    }
    await release();
    expect(found).toEqual({});
  });
});
