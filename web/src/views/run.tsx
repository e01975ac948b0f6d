/** One run with everything that is known of it, in parts. The page is fetched when it is first opened. */

import { lazily } from "../components/lazily";
import type { PageDef } from "../router";

const Page = lazily<{ params: Record<string, string> }>(() => import("./run/page").then((found) => found.RunPage));

export default { path: "/run/:id", title: "Run", order: 30, Page } satisfies PageDef;
