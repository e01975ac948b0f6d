/** What runs were set to, and what came of it. The page is fetched when it is first opened. */

import { lazily } from "../components/lazily";
import type { PageDef } from "../router";

const Page = lazily<{ params: Record<string, string> }>(() =>
  import("./parameters/page").then((found) => found.ParametersPage),
);

export default { path: "/parameters", title: "Parameters", nav: true, order: 22, Page } satisfies PageDef;
