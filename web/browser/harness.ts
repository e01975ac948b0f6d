/** A real server over a real store, and a real browser. Nothing here is a stand-in. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const ROOT = resolve(import.meta.dirname, "../..");
const PYTHON = process.env.STEPSCOPE_PYTHON ?? join(ROOT, ".venv/bin/python");
const PLACES = [
  process.env.CHROMIUM,
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

/** Stores are written with an fsync per run; in memory that costs nothing. */
const MEMORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** True where there is no browser to test with. In CI that is a failure, elsewhere it is said and the tests are skipped. */
export const noBrowser = CHROMIUM === undefined;
if (noBrowser) {
  const words = `no Chromium found (looked at ${PLACES.filter(Boolean).join(", ")}); set CHROMIUM=/path/to/chromium`;
  if (process.env.CI === "true") throw new Error(words);
  console.warn(`browser tests skipped: ${words}`);
}

export type StoreKind = "usual" | "reports" | "run" | "many" | "hostile" | "empty" | "charts" | "compare" | "media" | "media_hostile" | "model" | "profile" | "timeline" | "distributions" | "parameters" | "inside" | "everything" | "gallery" | "stories";

/** What a script beside this file prints. */
export function python(script: string, ...args: string[]): string {
  const done = spawnSync(PYTHON, [join(import.meta.dirname, script), ...args], { encoding: "utf8", maxBuffer: 1 << 26 });
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
    python("make_store.py", kind, store, ...(count ? [String(count)] : []));
    const { child, lines, said } = await serve(folder);
    return new Server(folder, child, lines, said.address, said.url);
  }

  /** Killed and started anew at the same place, with a new token, or with its own as when it is kept in a file. */
  async restart(token: "new token" | "same token" = "new token"): Promise<void> {
    this.kill();
    await this.gone();
    const { port, searchParams } = new URL(this.address);
    const { child, lines, said } = await serve(this.folder, port, token === "same token" ? (searchParams.get("token") ?? "") : "");
    this.process = child;
    this.lines = lines;
    this.address = said.address;
  }

  /** Tells the training that goes on: `start NAME`, `log` or `end`; waits until it has. */
  async tell(command: string): Promise<void> {
    const answer = nextLine(this.lines, this.process);
    this.process.stdin?.write(`${command}\n`);
    await answer;
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
  options: { theme?: "light" | "dark" } = {},
): Promise<Tab> {
  browser ??= await chromium.launch({ executablePath: CHROMIUM as string, args: FLAGS });
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: options.theme ?? "light",
  });
  context.setDefaultTimeout(20_000); // for machines that do other things too; nothing waits so long otherwise
  const page = await context.newPage();
  const errors: string[] = [];
  const strangers: string[] = [];
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
  await page.goto(`${server.address}${hash}`);
  await page.locator("main").waitFor();
  return { page, context, errors, strangers };
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = null;
}
