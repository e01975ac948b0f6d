/** What the model is and what a step of it did. The page is fetched when it is first opened. */

import { lazily } from "../components/lazily";
import type { PageDef } from "../router";

const Page = lazily<{ params: Record<string, string> }>(() => import("./model/page").then((found) => found.Model));

export default { path: "/model", title: "Model", nav: true, order: 25, Page } satisfies PageDef;
