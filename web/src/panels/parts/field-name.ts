/**
 * `lr` means the config's `lr`; `config.lr`, `group` and `val/loss.min` mean themselves. The server reads it the same
 * way.
 */
const OF_RUN = new Set([
  "name",
  "project",
  "id",
  "status",
  "tags",
  "notes",
  "host",
  "user",
  "group",
  "created",
  "ended",
  "age",
  "duration",
  "findings",
  "dropped",
]);

export function fieldOf(name: string): string {
  return name === "" || name.includes(".") || OF_RUN.has(name) ? name : `config.${name}`;
}
