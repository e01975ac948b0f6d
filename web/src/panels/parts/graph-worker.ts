/** Lays graphs out beside the page. A shared file has `report/no-worker.ts` in its place. */

export function layoutWorker(): Worker {
  return new Worker(new URL("../../graph/app-worker.ts", import.meta.url), { type: "module" });
}
