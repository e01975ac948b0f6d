/** Typed calls to the server. The routes and their types are generated from the server's schema. */

import { takeEarly } from "./early";
import type { Problem, Routes } from "./schema";

/** What the server said when it refused, or why no answer came. */
export class ApiError extends Error {
  constructor(
    message: string,
    /** The HTTP status; 0 when there was no answer at all. */
    readonly status: number,
    /** For a query: which character is wrong. */
    readonly position: number | null = null,
    readonly hint: string | null = null,
    /** Names the details in the server's log. */
    readonly id: string | null = null,
  ) {
    super(message);
    this.name = "ApiError";
  }

  get offline(): boolean {
    return this.status === 0;
  }
}

export interface CallOptions {
  signal?: AbortSignal;
}

type Request<R extends keyof Routes> = Routes[R]["request"];
type Answer<R extends keyof Routes> = Routes[R]["response"];

/**
 * `await call("POST /api/runs", { query: "" })`. Throws an ApiError; an aborted call throws the AbortError of fetch.
 */
export async function call<R extends keyof Routes>(
  route: R,
  request: Request<R>,
  options: CallOptions = {},
): Promise<Answer<R>> {
  return (await (await answered(route, request, options)).json()) as Answer<R>;
}

/** The same for a route that answers with raw bytes. */
export async function callBytes<R extends keyof Routes>(
  route: R,
  request: Request<R>,
  options: CallOptions = {},
): Promise<ArrayBuffer> {
  return (await answered(route, request, options)).arrayBuffer();
}

/** Where answers come from: the server, or, in a file that was shared, what the file carries. */
export type Source = (route: keyof Routes, request: unknown, options: CallOptions) => Promise<Response>;

let source: Source = fromServer;

/** Has every call of this page answered from elsewhere than the server. */
export function setSource(other: Source): void {
  source = other;
}

/** True where a server stands behind the page; false in a file that was shared. */
export const isServed = (): boolean => source === fromServer;

async function answered<R extends keyof Routes>(
  route: R,
  request: Request<R>,
  options: CallOptions,
): Promise<Response> {
  const answer = await source(route, request, options);
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

async function fromServer(route: keyof Routes, request: unknown, options: CallOptions): Promise<Response> {
  const [method, template] = (route as string).split(" ") as [string, string];
  const url = addressOf(template, request as Record<string, unknown>, method === "GET");
  const init: RequestInit = {
    method,
    credentials: "same-origin",
    headers: { "X-Stepscope": "1", Accept: "application/json" },
  };
  if (options.signal) init.signal = options.signal;
  if (method !== "GET") {
    init.body = JSON.stringify(request);
    (init.headers as Record<string, string>)["Content-Type"] = "application/json";
  }
  try {
    // No `await` where nothing was asked early: the request would leave only after whatever is being rendered.
    const early = takeEarly(method, url, (init.body as string | undefined) ?? null);
    return (early ? await early.catch(() => null) : null) ?? (await fetch(url, init));
  } catch (fault) {
    if (fault instanceof DOMException && fault.name === "AbortError") throw fault;
    throw new ApiError("The server does not answer. Is `stepscope ui` still running?", 0);
  }
}

/** Fills the `{names}` of a path from the request; a GET carries the rest as a query string. */
export function addressOf(template: string, request: Record<string, unknown>, asQuery = true): string {
  const used = new Set<string>();
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    used.add(name);
    return encodeURIComponent(String(request[name] ?? ""));
  });
  if (!asQuery) return path;
  const rest = new URLSearchParams();
  for (const [name, value] of Object.entries(request)) {
    if (used.has(name) || value === undefined || value === null) continue;
    for (const item of Array.isArray(value) ? value : [value]) rest.append(name, String(item));
  }
  const query = rest.toString();
  return query ? `${path}?${query}` : path;
}

/** True for the error that an AbortController causes: nothing to show, a newer call is under way. */
export function isAbort(fault: unknown): boolean {
  return fault instanceof DOMException && fault.name === "AbortError";
}

async function refusal(answer: Response): Promise<ApiError> {
  const text = await answer.text().catch(() => "");
  return readRefusal(answer.status, text);
}

/** The server's refusal is a `Problem`; a proxy's may be anything. */
export function readRefusal(status: number, text: string): ApiError {
  const body = parse(text);
  const said = isRecord(body) ? body : {};
  const words = (name: keyof Problem) =>
    typeof said[name] === "string" && said[name] !== "" ? (said[name] as string) : null;
  const position = typeof said.position === "number" ? said.position : null;
  return new ApiError(words("error") ?? defaultMessage(status), status, position, words("hint"), words("id"));
}

function defaultMessage(status: number): string {
  if (status === 401 || status === 403)
    return "This page has no valid access token. Open the address that `stepscope ui` printed.";
  if (status === 404) return "The server does not have this.";
  return `The server answered with status ${status}.`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
