import { EmptyState } from "../components";
import type { PageDef } from "../router";

function Runs() {
  return <EmptyState title="Runs" />;
}

export default { path: "/runs", title: "Runs", nav: true, order: 10, Page: Runs } satisfies PageDef;
