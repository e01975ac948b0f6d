/** Where the panels stand: in the app, or in a file of their own, where no link leads into the app and no worker can start. */

let alone = false;

export function standAlone(): void {
  alone = true;
}

export const standsAlone = (): boolean => alone;

/** Lays graphs out beside the page. In a file it throws: the layout is then made on the page itself. */
export function layoutWorker(): Worker {
  if (alone) throw new Error("a shared file has no worker");
  return new Worker(new URL("../../graph/app-worker.ts", import.meta.url), { type: "module" });
}
