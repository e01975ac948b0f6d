/** Nothing there, nothing found, too much, and the server gone: each is said as it is. */

import { afterAll, describe, expect, test } from "vitest";
import { closeBrowser, noBrowser, openTab, quiet, Server, typeInto } from "./harness";

describe.skipIf(noBrowser)("states", () => {
  afterAll(closeBrowser);

  test("an empty store teaches the first steps, and shows the first run by itself", async () => {
    const server = await Server.start("empty");
    const { page, context, errors, strangers } = await openTab(server);
    await page.getByText("No runs here yet").waitFor();
    await expect.poll(() => page.locator(".lesson pre").first().textContent()).toContain("stepscope.init(");
    await server.tell("start the-first");
    await page.getByRole("link", { name: "the-first" }).waitFor();
    expect([errors, strangers]).toEqual([[], []]);
    await context.close();
    await server.stop();
  });

  test("500 runs scroll smoothly; no match and a dead server are said", async () => {
    const server = await Server.start("many", 500);
    const { page, context } = await openTab(server);
    await page.getByText("500 runs").waitFor();
    await expect.poll(() => page.locator("[data-run]").count()).toBeLessThan(70);
    await page.keyboard.press("End");
    await page.getByRole("link", { name: /-0499$/ }).waitFor();
    await page.keyboard.press("Home");
    await page.getByRole("link", { name: /-0000$/ }).waitFor();

    await typeInto(page, "/", page.getByRole("combobox", { name: "Query" }), 'name = "no such run"');
    await page.keyboard.press("Enter");
    await page.getByText("No run matches").waitFor();
    await page.locator("main").getByRole("button", { name: "Clear the query" }).last().click();
    await page.getByText("500 runs", { exact: true }).waitFor();

    server.kill();
    await page.getByText(/Disconnected, retrying/).waitFor();
    await expect.poll(() => page.locator("[data-run]").count()).toBeGreaterThan(0);
    await page.locator(".head-button").first().click();
    await quiet(page);
    await expect.poll(() => page.locator("[data-run]").count()).toBeGreaterThan(0);
    await context.close();
    await server.stop();
  });

  test("a mistake of the server is shown with its words and a way to try again", async () => {
    const server = await Server.start("usual");
    const { page, context } = await openTab(server, "#/charts");
    let broken = true;
    await page.route("**/api/runs", (route) =>
      broken
        ? route.fulfill({
            status: 500,
            contentType: "application/json",
            body: JSON.stringify({ error: "the index cannot be read", hint: "restart it", position: null, id: "e-1" }),
          })
        : route.continue(),
    );
    await page.reload(); // rows that came before would stay
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.getByText("The server failed").waitFor();
    await expect.poll(() => page.locator(".state").textContent()).toContain("the index cannot be read");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("The server failed").waitFor();
    broken = false;
    // The page may have tried again by itself meanwhile; then there is nothing left to click.
    await page.evaluate(() => document.querySelector<HTMLElement>(".state button")?.click());
    await page.locator("[data-run]").first().waitFor();
    await page.goto(`${server.url}/#/run/01AAAAAAAAAAAAAAAAAAAAAAAA`);
    await page.getByText("Not found").waitFor();
    await page.goto(`${server.url}/#/no/such/page`);
    await page.getByText("Page not found").waitFor();
    await context.close();
    await server.stop();
  });
});
