/** The roles, as a list to choose from. */

export const ROLES = [
  { value: "viewer", label: "Viewer" },
  { value: "writer", label: "Writer" },
  { value: "admin", label: "Admin" },
] as const;

export type RoleName = (typeof ROLES)[number]["value"];
