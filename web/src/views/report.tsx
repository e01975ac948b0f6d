/** One report: read, edited, shared. `/report/new` is one that was not saved yet. docs/reports.md is its manual. */

import { describeKeys } from "../components/help";
import { lazily } from "../components/lazily";
import type { PageDef } from "../router";

describeKeys("Reports", {
  e: "edit the report that is open",
  "Ctrl+S": "save a version",
  "/": "at the start of a line in the editor: insert a panel",
});

const Report = lazily(() => import("./reports/page").then((chunk) => chunk.ReportView));

export default {
  path: "/report/:id",
  title: "Report",
  order: 41,
  Page: ({ params }) => <Report key={params.id} id={params.id ?? ""} />,
} satisfies PageDef;
