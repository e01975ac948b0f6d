/** How sweeps stand, live. The page is fetched when it is first opened. */

import { lazily } from "../components/lazily";
import type { PageDef } from "../router";

const Page = lazily<{ params: Record<string, string> }>(() =>
  import("./sweeps/page").then((found) => found.SweepsPage),
);

export default { path: "/sweeps", title: "Sweeps", nav: true, order: 22, Page } satisfies PageDef;
