/** What fills a team's server, what its projects keep, and how much they may fill. */

import { lazily } from "../components/lazily";
import type { PageDef } from "../router";

const Storage = lazily(() => import("./storage/page").then((chunk) => chunk.StoragePage));

export default { path: "/storage", title: "Storage", order: 51, Page: () => <Storage /> } satisfies PageDef;
