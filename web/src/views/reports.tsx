/** All reports of the stores. docs/reports.md is its manual. */

import { lazily } from "../components/lazily";
import type { PageDef } from "../router";

const List = lazily(() => import("./reports/list").then((chunk) => chunk.ReportList));

export default { path: "/reports", title: "Reports", nav: true, order: 40, Page: () => <List /> } satisfies PageDef;
