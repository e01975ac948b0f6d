/** What differs between runs, what is better, and what is chance. The page is fetched when it is first opened. */

import { lazily } from "../components/lazily";
import type { PageDef } from "../router";

const Page = lazily<{ params: Record<string, string> }>(() => import("./compare/page").then((found) => found.Compare));

export default { path: "/compare", title: "Compare", nav: true, order: 21, Page } satisfies PageDef;
