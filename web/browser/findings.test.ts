/** Findings on a run's page: the gravest first, with source, proof and explanation; new ones appear by themselves. */

import { afterAll, describe, expect, test } from "vitest";
import { closeBrowser, noBrowser, openTab, Server } from "./harness";

describe.skipIf(noBrowser)("findings", () => {
  afterAll(closeBrowser);

  test("are read, explained and followed", async () => {
    const server = await Server.start("usual");
    const { page, context, errors, strangers } = await openTab(server);
    await expect.poll(() => page.locator("[data-run] .badge[data-tone=bad]").allTextContents()).toEqual(["2"]);
    await page.getByRole("link", { name: "gentle-stoat-3" }).click();
    await page
      .getByRole("region", { name: "Findings" })
      .getByRole("link", { name: "1 error · 1 warning · 1 worth knowing" })
      .click();
    await page.getByRole("toolbar", { name: "Filter findings" }).waitFor();
    const cards = page.getByRole("region", { name: "Findings" }).locator(".finding");
    await expect
      .poll(() => cards.evaluateAll((all) => all.map((one) => one.getAttribute("data-level"))))
      .toEqual(["error", "warning", "info"]);

    const first = cards.first();
    await expect.poll(() => first.locator("mark").first().textContent()).toBe("loss.backward()");
    await expect.poll(() => first.locator(".source-seen").textContent()).toContain("grad norm 1.9 -> 3.8 -> 5.8");
    await expect.poll(() => first.locator(".finding-place").textContent()).toContain("train.py:42");
    await expect.poll(() => first.locator(".finding-related").textContent()).toContain("the optimizer was made here");
    const apart = async () => {
      const mark = await first.locator("mark").first().boundingBox();
      const seen = await first.locator(".source-seen .isolate").boundingBox();
      return Math.abs((mark?.x ?? 0) - (seen?.x ?? 99));
    };
    await expect.poll(apart).toBeLessThan(2);
    await expect.poll(() => cards.nth(1).locator(".finding-place").textContent()).toContain("train.py:31");

    await first.getByRole("button", { name: "Explain" }).click();
    await first.getByText("Gradients accumulate because nothing clears them").waitFor();
    await expect.poll(() => first.locator(".finding-examples figure").count()).toBe(2);

    await server.tell("start followed");
    await page.goto(`${server.url}/#/runs`);
    await page.getByRole("link", { name: "followed" }).click();
    await page.getByRole("heading", { name: "followed" }).waitFor();
    await page.getByRole("tab", { name: "Findings" }).click();
    await page.getByText("Not watched", { exact: true }).waitFor();
    await server.tell("find gradients `pile` up");
    await page.locator(".finding strong code", { hasText: "pile" }).waitFor();
    expect([errors, strangers]).toEqual([[], []]);
    await context.close();
    await server.stop();
  });
});
