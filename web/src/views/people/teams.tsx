/** Teams of the server, for admins: a role given to a team is every member's. */

import { useState } from "preact/hooks";
import { Button, ErrorState, Skeleton, TextInput } from "../../components";
import { call } from "../../lib/api";
import { visibleText } from "../../lib/format";
import { attempt, useListed } from "./ask";

export function TeamList() {
  const list = useListed(() => call("POST /api/teams", {}));
  const [name, setName] = useState("");
  const [users, setUsers] = useState("");
  if (list.fault) return <ErrorState error={list.fault} onRetry={() => void list.read()} />;
  const set = (team: string, members: string[] | null) =>
    attempt(async () => list.set(await call("POST /api/teams/set", { team, users: members })), "Not changed");
  const save = async () => {
    if (await set(name.trim(), names(users))) setName(""), setUsers("");
  };
  const teams = Object.entries(list.found?.teams ?? {});
  return (
    <section aria-labelledby="teams-title">
      <h2 id="teams-title">Teams</h2>
      {list.found ? null : <Skeleton height={40} />}
      {teams.length > 0 ? (
        <table class="people-table">
          <tbody>
            {teams.map(([team, members]) => (
              <tr key={team}>
                <td class="isolate">{visibleText(team)}</td>
                <td class="isolate">{members.join(", ") || "nobody"}</td>
                <td>
                  <Button kind="quiet" onClick={() => (setName(team), setUsers(members.join(", ")))}>
                    Edit
                  </Button>
                  <Button kind="quiet" onClick={() => void set(team, null)}>
                    Remove
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
      <form class="people-form" onSubmit={(event) => (event.preventDefault(), void save())}>
        <TextInput label="Name of the team" placeholder="Team" value={name} onInput={setName} />
        <TextInput label="Users in the team" placeholder="ada, bo" value={users} onInput={setUsers} />
        <Button type="submit" disabled={!name.trim()}>
          {name.trim() in (list.found?.teams ?? {}) ? "Change the team" : "Add the team"}
        </Button>
      </form>
    </section>
  );
}

const names = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);
