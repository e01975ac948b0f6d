/** A real server over a real store, and a real browser. Nothing here is a stand-in. */

import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { type Browser, type BrowserContext, chromium, type Locator, type Page, type Request } from "playwright-core";
import { expect } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const PYTHON = process.env.STEPSCOPE_PYTHON ?? join(ROOT, ".venv/bin/python");
const PLACES = [
  process.env.CHROMIUM,
  "/usr/bin/chromium-headless-shell", // half the processor time of the others
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const CHROMIUM = PLACES.find((place) => place && existsSync(place));

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** `STEPSCOPE_SLOW=4 npm run browser`: the pages have a quarter of the processor, to find tests that hope instead of wait. */
const SLOW = Number(process.env.STEPSCOPE_SLOW ?? 1);

/** Stores are written with an fsync per run; in memory that costs nothing. */
const MEMORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** True where there is no browser to test with. In CI that is a failure, elsewhere it is said and the tests are skipped. */
export const noBrowser = CHROMIUM === undefined;
if (noBrowser) {
  const words = `no Chromium found (looked at ${PLACES.filter(Boolean).join(", ")}); set CHROMIUM=/path/to/chromium`;
  if (process.env.CI === "true") throw new Error(words);
  console.warn(`browser tests skipped: ${words}`);
}

export type StoreKind =
  | "usual"
  | "awkward"
  | "reports"
  | "run"
  | "many"
  | "hostile"
  | "empty"
  | "charts"
  | "compare"
  | "media"
  | "media_hostile"
  | "model"
  | "profile"
  | "timeline"
  | "distributions"
  | "parameters"
  | "inside"
  | "everything"
  | "gallery"
  | "stories"
  | "sweeps"
  | "frames"
  | "team";

/** What a script beside this file prints. */
export function python(script: string, ...args: string[]): string {
  const done = spawnSync(PYTHON, [join(import.meta.dirname, script), ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (done.status !== 0) throw new Error(`${script} ${args.join(" ")} failed:\n${done.stderr}`);
  return done.stdout;
}

/** One server with its own store, in a folder that goes away with it. */
export class Server {
  private constructor(
    readonly folder: string,
    public process: ChildProcess,
    private lines: Interface,
    /** What a person opens: with the token. */
    public address: string,
    readonly url: string,
  ) {}

  static async start(kind: StoreKind, count = 0): Promise<Server> {
    const folder = mkdtempSync(join(MEMORY, "stepscope-browser-"));
    const store = join(folder, "stepscope-runs");
    await new Promise<void>((done, fail) => {
      const args = [join(import.meta.dirname, "make_store.py"), kind, store, ...(count ? [String(count)] : [])];
      execFile(PYTHON, args, { maxBuffer: 1 << 26 }, (error, _, stderr) =>
        error ? fail(new Error(`no store ${kind}:\n${stderr}`)) : done(),
      );
    });
    const { child, lines, said } = await serve(folder);
    return new Server(folder, child, lines, said.address, said.url);
  }

  /** Killed and started anew at the same place, with a new token, or with its own as when it is kept in a file. */
  async restart(token: "new token" | "same token" = "new token"): Promise<void> {
    this.kill();
    await this.gone();
    const { port, searchParams } = new URL(this.address);
    const { child, lines, said } = await serve(
      this.folder,
      port,
      token === "same token" ? (searchParams.get("token") ?? "") : "",
    );
    this.process = child;
    this.lines = lines;
    this.address = said.address;
  }

  /** Tells the training that goes on: `start NAME`, `log` or `end`; waits until it has. */
  async tell(command: string): Promise<void> {
    await this.asked(command);
  }

  /** A link that signs this user of a team's server in, once. */
  async invite(name: string): Promise<string> {
    return (JSON.parse(await this.asked(`invite ${name}`)) as { address: string }).address;
  }

  private asked(command: string): Promise<string> {
    const answer = nextLine(this.lines, this.process);
    this.process.stdin?.write(`${command}\n`);
    return answer;
  }

  /** The server is gone at once, as when its machine is switched off. */
  kill(): void {
    this.process.kill("SIGKILL");
  }

  private gone(): Promise<unknown> {
    return new Promise((done) =>
      this.process.exitCode !== null || this.process.signalCode ? done(null) : this.process.once("exit", done),
    );
  }

  async stop(): Promise<void> {
    this.process.stdin?.end();
    await this.gone();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function serve(folder: string, port = "0", token = "") {
  const env = { ...process.env, STEPSCOPE_CACHE: join(folder, "cache") };
  const args = [join(import.meta.dirname, "serve.py"), join(folder, "stepscope-runs"), port, token];
  const child = spawn(PYTHON, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const said = JSON.parse(await nextLine(lines, child)) as { address: string; url: string };
  return { child, lines, said };
}

function nextLine(lines: Interface, child: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    const gone = () => fail(new Error("the test server stopped; its error is printed above"));
    child.once("exit", gone);
    lines.once("line", (line) => {
      child.off("exit", gone);
      done(line);
    });
  });
}

let browser: Browser | null = null;

/** Questions to the server that are not answered yet, by page; the stream of news is none. */
const open = new WeakMap<Page, Set<Request>>();

/** Until the page has asked for nothing for some frames: what it shows is all there is. */
export async function quiet(page: Page): Promise<void> {
  for (let calm = 0; calm < 3; calm = open.get(page)?.size ? 0 : calm + 1)
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50))));
}

export interface Tab {
  page: Page;
  context: BrowserContext;
  /** Errors the page printed or threw; a test that expects some empties this. */
  errors: string[];
  /** Addresses outside the server's origin that the page asked for. */
  strangers: string[];
}

/** A fresh browser profile on a server's first page, signed in by its token. */
export async function openTab(
  server: Server,
  hash = "#/runs",
  options: { theme?: "light" | "dark"; address?: string } = {},
): Promise<Tab> {
  browser ??= await chromium.launch({ executablePath: CHROMIUM as string, args: FLAGS });
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: options.theme ?? "light",
  });
  context.setDefaultTimeout(45_000); // for machines that do other things too; nothing waits so long otherwise
  if (SLOW > 1) context.on("page", (page) => void slowDown(page));
  const page = await context.newPage();
  const errors: string[] = [];
  const strangers: string[] = [];
  const asked = new Set<Request>();
  open.set(page, asked);
  page.on("request", (request) => /\/api\/(?!live)/.test(request.url()) && asked.add(request));
  page.on("requestfinished", (request) => asked.delete(request));
  page.on("requestfailed", (request) => asked.delete(request));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(server.url) && !/^(data|blob):/.test(url)) strangers.push(url);
  });
  // What the content policy stopped has not left the browser.
  page.on("requestfailed", (request) => {
    const at = request.failure()?.errorText === "csp" ? strangers.indexOf(request.url()) : -1;
    if (at >= 0) strangers.splice(at, 1);
  });
  await page.goto(`${options.address ?? server.address}${hash}`);
  const invited = page.getByRole("button", { name: /^Sign in as / });
  if (await invited.count()) {
    await invited.click();
    await page.locator("#app, main").first().waitFor();
    await page.goto(`${server.url}/${hash}`);
  }
  await page.locator("main").waitFor();
  return { page, context, errors, strangers };
}

/** The ids of a store's runs by their names, once all of them are read; of two with one name, that of the older. */
export async function idsOf(page: Page): Promise<Map<string, string>> {
  const ask = () =>
    page.evaluate(async () => {
      const headers = { "X-Stepscope": "1", "Content-Type": "application/json" };
      const answer = await fetch("/api/runs", { method: "POST", headers, body: JSON.stringify({ limit: 200 }) });
      return (await answer.json()) as { rows: { id: string; name: string }[]; unread: number };
    });
  while ((await ask()).unread > 0) await page.waitForTimeout(200);
  return new Map((await ask()).rows.map((row) => [row.name, row.id]));
}

async function slowDown(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOW });
}

/** Two keys in a row, as `g r`: the second does not wait until the page has answered the first. */
export async function pressTwo(page: Page, first: string, second: string): Promise<void> {
  await Promise.all([page.keyboard.press(first), page.keyboard.press(second)]);
}

/** What a canvas shows, as a number that changes when a pixel does. */
export const picture = (canvas: Locator): Promise<number> =>
  canvas.first().evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement;
    const data = (element as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
    let hash = 0;
    for (const byte of data) hash = (Math.imul(hash, 31) + byte) | 0;
    return hash;
  });

/** What a canvas shows once it stays as it is: nothing is loading around it, and some frames in a row are the same. */
export async function steady(canvas: Locator): Promise<number> {
  await canvas.first().waitFor();
  return canvas.first().evaluate(
    (element) =>
      new Promise<number>((done) => {
        const hashOf = () => {
          const { width, height } = element as HTMLCanvasElement;
          const data = (element as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
          let hash = 0;
          for (const byte of data) hash = (Math.imul(hash, 31) + byte) | 0;
          return hash;
        };
        let last = Number.NaN;
        let same = 0;
        const look = () => {
          const now = element.closest("[aria-busy=true], [data-loading]") ? Number.NaN : hashOf();
          same = now === last ? same + 1 : 0;
          last = now;
          if (same >= 6) done(now);
          else setTimeout(look, 30);
        };
        look();
      }),
  );
}

/** Presses a key that moves the focus into a field, and types there once it has it. */
export async function typeInto(page: Page, key: string, field: Locator, text: string): Promise<void> {
  await page.keyboard.press(key);
  await expect.poll(() => field.evaluate((one) => one === document.activeElement)).toBe(true);
  await page.keyboard.type(text);
}

/**
 * Until what `selector` finds is at rest: nothing is loading or being laid out there, nothing runs an animation, and
 * all of it (and every `parts` inside it) has stood at the same place for some frames. Places and pictures may be taken then.
 */
export async function still(page: Page, selector: string, parts = selector): Promise<void> {
  await page.locator(selector).first().waitFor();
  await page.evaluate(
    ([selector, parts]) =>
      new Promise<void>((done, fail) => {
        const until = performance.now() + 60_000;
        // What is not on the screen is loaded when it comes onto it.
        const onScreen = (one: Element) => {
          const { top, bottom, width } = one.getBoundingClientRect();
          return width > 0 && bottom > 0 && top < innerHeight;
        };
        const busy = () =>
          [...document.querySelectorAll(selector)].some(
            (one) =>
              one.closest("[aria-busy=true]") ||
              [...one.querySelectorAll("[aria-busy=true], [data-loading], .skeleton")].some(onScreen) ||
              one
                .getAnimations({ subtree: true })
                .some((moves) => Number.isFinite(moves.effect?.getComputedTiming().endTime as number)),
          );
        const places = () =>
          JSON.stringify(
            [...document.querySelectorAll(`${selector}, ${parts}`)].map((one) => {
              const { x, y, width, height } = one.getBoundingClientRect();
              return [x, y, width, height].map(Math.round);
            }),
          );
        let last = "";
        let same = 0;
        const look = () => {
          const now = places();
          same = now === last && !busy() ? same + 1 : 0;
          last = now;
          if (same >= 4) done();
          else if (performance.now() > until)
            fail(new Error(`${selector} does not come to rest${busy() ? ": it is busy" : ""}`));
          else requestAnimationFrame(look);
        };
        look();
      }),
    [selector, parts] as const,
  );
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = null;
}
