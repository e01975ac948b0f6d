/** Inside a run: what it printed, the files it kept, one recorded step. */

import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "./axe";
import { closeBrowser, noBrowser, openTab, Server, typeInto, type Tab } from "./harness";

const LONG = 100_000;

describe.skipIf(noBrowser)("inside a run", () => {
  let server: Server;
  let tab: Tab;
  let page: Page;
  const ids = new Map<string, string>();

  beforeAll(async () => {
    server = await Server.start("inside", LONG);
    tab = await openTab(server, "#/runs");
    page = tab.page;
    const rows: { id: string; name: string }[] = await page.evaluate(async () => {
      const answer = await fetch("/api/runs", {
        method: "POST",
        headers: { "X-Stepscope": "1", "Content-Type": "application/json" },
        body: '{"query": "", "limit": 50}',
      });
      return (await answer.json()).rows;
    });
    for (const { id, name } of rows) ids.set(name.slice(0, 4), id);
  });
  afterAll(async () => {
    await tab?.context.close();
    await closeBrowser();
    await server?.stop();
  });

  const open = async (run: string, query: string): Promise<void> => {
    await page.goto("about:blank");
    await page.goto(`${server.url}/#/run/${ids.get(run)}?${query}`);
  };
  const line = (text: string): Locator => page.locator(".con-line", { hasText: text });
  const hash = () => page.evaluate(() => decodeURIComponent(location.hash));

  test("the console opens at its end with the error in red, bars are one line, colours are colours", async () => {
    await open("vae-", "part=console");
    await line("FloatingPointError: the loss is inf at step 734").waitFor();
    await expect.poll(() => line("FloatingPointError: the").getAttribute("data-trace")).toBe("end");
    await expect.poll(() => page.locator(".con-line", { hasText: "epoch 7:" }).count()).toBe(1);
    await expect.poll(() => line("INFO step  600").locator('[style*="--ansi-2"]').textContent()).toBe("INFO");
    await expect.poll(() => page.locator(".con-follow").count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "How lines are shown" }).click();
    await page.getByRole("menuitemradio", { name: /All updates/ }).click();
    await expect.poll(() => page.locator(".con-line", { hasText: "epoch 7:" }).count()).toBe(4);
  });

  test("a search counts, goes from match to match, leaves out the rest, and takes patterns", async () => {
    await open("vae-", "part=console");
    await line("FloatingPointError: the").waitFor();
    const box = page.getByRole("textbox", { name: "Find in the console" });
    await typeInto(page, "/", box, "saved");
    await expect.poll(() => page.locator(".con-matches").textContent()).toBe("2 of 2");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".con-matches").textContent()).toBe("1 of 2");
    await expect.poll(() => page.locator(".con-line[data-current] mark").textContent()).toBe("saved");
    await page.getByRole("button", { name: "Only matches" }).click();
    await expect.poll(() => page.locator(".con-line").count()).toBe(2);
    await page.getByRole("button", { name: "Regular expression" }).click();
    await box.fill("epoch [23] of");
    await expect.poll(() => page.locator(".con-line").count()).toBe(2);
    await box.fill("(epoch");
    await expect.poll(() => page.locator(".con-bad").textContent()).toContain("missing )");
    tab.errors.length = 0; // the refusal is printed by the browser
  });

  test("a line is linked, a stream chosen, and a step leads to the charts", async () => {
    await open("vae-", "part=console");
    await line("saved vae:v0").locator(".con-number").click();
    await page.getByRole("status").filter({ hasText: "Line 20" }).waitFor();
    await expect.poll(hash).toContain("line=20");
    await open("vae-", "part=console&line=3-5");
    await expect.poll(() => page.locator(".con-line[data-picked]").count()).toBe(3);
    await page.getByRole("radio", { name: "stderr" }).click();
    await expect.poll(() => line("config: lr").count()).toBe(0);
    await open("vae-", "part=console&step=400");
    await page.locator(".con-line[data-shining]", { hasText: "step  450" }).waitFor();
    await page.locator('[data-step="449"]').click();
    await page.getByRole("button", { name: "Step 449" }).waitFor();
    await expect.poll(hash).toMatch(/part=charts.*mark=449/);
  });

  test("ranks are told apart", async () => {
    await open("ddp ", "part=console");
    await line("[rank 3] step 39").waitFor();
    await page.getByRole("combobox", { name: "Rank" }).selectOption("2");
    await expect.poll(() => page.locator(".con-count").textContent()).toBe("40 of 160 lines");
    await expect.poll(() => line("[rank 1]").count()).toBe(0);
  });

  test("hundreds of thousands of lines scroll, and any of them is found", async () => {
    await open("1000", "part=console");
    await line(`step ${LONG - 1} loss`).waitFor();
    await page.keyboard.press("Home");
    await line("step 0 loss").waitFor();
    await page.locator(".con-lines").evaluate((box) => (box.scrollTop = box.scrollHeight / 2));
    await line(`step ${LONG / 2} loss`).waitFor();
    await expect.poll(() => page.locator(".con-line").count()).toBeLessThan(150);
    await typeInto(page, "/", page.getByRole("textbox", { name: "Find in the console" }), "step 54321 ");
    await page.locator(".con-line[data-current]", { hasText: "step 54321 loss" }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("a running console follows its end until one scrolls up, and goes back with a click", async () => {
    await server.tell("start live one");
    await server.tell(`print ${Array.from({ length: 120 }, (_, n) => `line ${n}\\n`).join("")}`);
    await server.tell("print 10%");
    await page.goto("about:blank");
    await page.goto(`${server.url}/#/runs`);
    await page.getByRole("link", { name: "live one" }).first().click();
    await page.getByRole("tab", { name: "Console" }).click();
    await line("10%").waitFor();
    await server.tell("print \\r90%\\nlater\\n");
    await line("later").waitFor();
    await expect.poll(async () => [await line("10%").count(), await line("90%").count()]).toEqual([0, 1]);
    await page.locator(".con-lines").evaluate((box) => (box.scrollTop -= 300));
    await page.locator(".con-follow").waitFor();
    await server.tell("print while away\\n");
    await page.getByRole("button", { name: "1 new line" }).click();
    await line("while away").waitFor();
    await page.locator(".con-follow").waitFor({ state: "detached" });
    await server.tell("end");
  });

  test("artifacts are looked into, compared and saved; a failed step says how to repeat it", async () => {
    await open("vae-", "part=files");
    const nav = page.getByRole("navigation", { name: "Files" });
    await nav.getByRole("button", { name: "v1 best" }).click();
    await page.getByRole("button", { name: "README.md" }).first().click();
    await page.getByRole("heading", { name: "A VAE of digits" }).waitFor();
    await page.getByRole("button", { name: "errors.csv" }).first().click();
    await expect.poll(() => page.locator(".files-csv tbody tr").count()).toBe(10);
    await page.getByRole("button", { name: /^samples/ }).click();
    await page.getByRole("button", { name: "latent.png" }).click();
    await expect
      .poll(() => page.locator(".files-picture img").evaluate((img: HTMLImageElement) => img.naturalWidth))
      .toBe(112);
    await page.getByRole("combobox", { name: "Compare with another version" }).selectOption("0");
    await page.locator('.files-changes li[data-kind="added"]', { hasText: "samples/latent.png" }).waitFor();
    await expect.poll(() => page.locator(".files-counts").textContent()).toContain("1 removed");
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Zip" }).click()]);
    expect(saved.suggestedFilename()).toBe("vae-v1.zip");
    expect(await axeFaults(page)).toEqual([]);
    await nav.getByRole("button", { name: "Saved steps" }).click();
    await page.getByText("Step 734 had a loss that is not finite").waitFor();
    await page.getByText(/stepscope replay \w+ --step 734 --pdb/).waitFor();
    await nav.getByRole("button", { name: "Run folder" }).click();
    await page.getByText("all files intact").waitFor();
    await nav.getByRole("button", { name: "reference" }).click();
    await page.getByText("s3://data/digits/v3/digits.tar").first().waitFor();
  });

  test("the step names the op where a value was born, and follows it", async () => {
    await open("vae-", "part=step");
    const birth = page.getByRole("region", { name: "First value that is not finite" });
    await birth.getByText("Inf born in the loss code: exp (op 20)").waitFor();
    await expect
      .poll(() => birth.locator("li").allTextContents())
      .toEqual(expect.arrayContaining([expect.stringContaining("256 Infborn here")]));
    expect(await axeFaults(page)).toEqual([]);
    await birth.getByRole("button", { name: "Show the op" }).click();
    const details = page.getByRole("complementary", { name: "Op 20" });
    await details.getByText("kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1)").waitFor();
    await details.getByRole("button", { name: "from 5 linear" }).click();
    await page.getByRole("complementary", { name: "Op 5" }).getByText("encoder.logvar.weight").waitFor();
    await page.getByRole("button", { name: "Not finite (57)" }).click();
    await expect.poll(() => page.locator(".step-sums").textContent()).toContain("57 of 181 ops");
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("columnheader", { name: "Time" }).getByRole("button").click();
    await expect
      .poll(() => page.getByRole("columnheader", { name: "Time" }).getAttribute("aria-sort"))
      .toBe("descending");
  });

  test("costs lead to the ops behind them, two recordings are compared, and the graph shows the op", async () => {
    await open("vae-", "part=step&stepview=costs");
    await page.getByRole("grid", { name: "Costs" }).getByRole("button", { name: "decoder" }).click();
    await expect.poll(() => page.locator(".step-sums").textContent()).toContain("14 of 181 ops");
    await page.getByRole("radio", { name: "Compare" }).click();
    const first = page.getByRole("grid", { name: "Changes" }).getByRole("row").nth(1);
    await expect.poll(() => first.textContent()).toContain("became Inf");
    await page.getByRole("combobox", { name: "Compare with" }).selectOption("0:recording");
    await first.click();
    await page.getByRole("button", { name: "Show in the graph of the model" }).click();
    await page.getByText("Produced NaN or Inf.").waitFor();
  });

  test("a run with nothing inside says how to get it", async () => {
    for (const [part, words] of [
      ["console", "Nothing was printed"],
      ["files", "No artifacts yet"],
      ["step", "No step of this run was recorded"],
    ] as const) {
      await open("noth", `part=${part}`);
      await page.getByRole("heading", { name: words }).waitFor();
    }
    expect(await axeFaults(page)).toEqual([]);
  });

  test("whatever a run printed or kept is text, and nothing of it runs", async () => {
    await open("<img", "part=console");
    await line("</span><script>").waitFor();
    await open("<img", "part=files");
    for (const name of [/\.md/, "fake.png", "page.html"]) {
      await page.locator(".files-row", { hasText: name }).click();
      await page.locator(".files-preview .card-head").filter({ hasText: name }).waitFor();
    }
    await page.locator(".files-preview pre", { hasText: "parent.document" }).waitFor();
    await expect.poll(() => page.locator(".files-part img, .files-part script, .files-part iframe").count()).toBe(0);
    await expect.poll(() => page.title()).not.toMatch(/^PWNED/);
    expect([tab.strangers, tab.errors]).toEqual([[], []]);
  });
});
