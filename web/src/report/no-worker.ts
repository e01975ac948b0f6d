/** Stands for the app's worker in a file of its own: the layout is made on the page itself. */

export function layoutWorker(): Worker {
  throw new Error("a shared file has no worker");
}
