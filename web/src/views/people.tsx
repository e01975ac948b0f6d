/** Who uses a team's server: my tokens, and for admins users, roles and the audit log. */

import { lazily } from "../components/lazily";
import type { PageDef } from "../router";

const People = lazily(() => import("./people/page").then((chunk) => chunk.PeoplePage));

export default { path: "/people", title: "People", order: 50, Page: () => <People /> } satisfies PageDef;
