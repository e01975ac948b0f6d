/** The People page: who I am, my tokens; what admins look after comes below. */

import { useEffect, useState } from "preact/hooks";
import { Button, EmptyState, ErrorState, Skeleton } from "../../components";
import { ApiError, call } from "../../lib/api";
import type { Me } from "../../lib/schema";
import { linkTo } from "../../router";
import "../../style/people.css";
import { Audit } from "./audit";
import { Members } from "./members";
import { TeamList } from "./teams";
import { Tokens } from "./tokens";
import { Users } from "./users";
import { ViewLinks } from "./view-links";

export function PeoplePage() {
  const [me, setMe] = useState<Me | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const read = () =>
    call("GET /api/me", {}).then(
      (found) => (setMe(found), setFault(null)),
      (error: unknown) => setFault(error),
    );
  useEffect(() => void read(), []);
  if (fault instanceof ApiError && fault.status === 404) {
    return (
      <EmptyState title="This app has no users">
        <p>
          It shows the runs of one person. `stepscope server` collects the runs of a team, and has users and tokens.
        </p>
      </EmptyState>
    );
  }
  if (fault) return <ErrorState error={fault} onRetry={() => void read()} />;
  if (!me) return <Skeleton height={120} />;
  const manages = Object.values(me.roles).includes("admin");
  return (
    <div class="people">
      <header class="people-bar">
        <h1>{me.name}</h1>
        <span class="quiet">{describe(me)}</span>
        <span class="spring" />
        {me.kind === "link" ? null : <a href={linkTo("/storage")}>Storage</a>}
        {me.kind === "session" ? <Button onClick={() => void signOut()}>Sign out</Button> : null}
      </header>
      {me.kind === "link" ? null : <Tokens scopes={me.scopes} />}
      {me.kind === "link" ? null : <ViewLinks me={me} />}
      {me.admin ? <Users /> : null}
      {me.admin ? <TeamList /> : null}
      {me.admin || manages ? <Members me={me} /> : null}
      {me.admin ? <Audit /> : null}
    </div>
  );
}

/** "admin of this server", or the roles: "viewer in vision, writer in every project". */
function describe(me: Me): string {
  if (me.kind === "link") return "view-only link";
  if (me.admin) return "admin of this server";
  const roles = Object.entries(me.roles).map(
    ([project, role]) => `${role} in ${project === "*" ? "every project" : project}`,
  );
  return roles.join(", ") || "no role yet: ask an admin for one";
}

async function signOut(): Promise<void> {
  await call("POST /api/logout", {});
  location.reload();
}
