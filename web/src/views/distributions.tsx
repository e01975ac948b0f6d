/** Histograms over time, layer by layer. The page is fetched when it is first opened. */

import { lazily } from "../components/lazily";
import type { PageDef } from "../router";

const Page = lazily<{ params: Record<string, string> }>(() =>
  import("./distributions/page").then((found) => found.DistributionsPage),
);

export default { path: "/distributions", title: "Distributions", nav: true, order: 24, Page } satisfies PageDef;
