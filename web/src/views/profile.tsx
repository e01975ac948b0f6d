/** Where time and memory go, and what to do about it. The page is fetched when it is first opened. */

import { lazily } from "../components/lazily";
import type { PageDef } from "../router";

const Page = lazily<{ params: Record<string, string> }>(() => import("./profile/page").then((found) => found.Profile));

export default { path: "/profile", title: "Profile", nav: true, order: 26, Page } satisfies PageDef;
