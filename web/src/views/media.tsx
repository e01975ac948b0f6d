/** Images, sounds, videos, text, tables, curves, embeddings: everything runs logged besides numbers. */

import { lazily } from "../components/lazily";
import type { PageDef } from "../router";

const Page = lazily<{ params: Record<string, string> }>(() => import("./media/page").then((found) => found.MediaPage));

export default { path: "/media", title: "Media", nav: true, order: 23, Page } satisfies PageDef;
