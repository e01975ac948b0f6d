/** Who has a role in a project, for its admins. */

import { useState } from "preact/hooks";
import { Button, ErrorState, Select, Skeleton, TextInput } from "../../components";
import { info } from "../../components/topbar";
import { call } from "../../lib/api";
import type { Me, ProjectMember } from "../../lib/schema";
import { attempt, useListed } from "./ask";
import { ROLES, type RoleName } from "./roles";

export function Members({ me }: { me: Me }) {
  const everywhere = me.admin || me.roles["*"] === "admin";
  const own = everywhere ? ["*", ...(info.value?.projects ?? [])] : managed(me);
  const [project, setProject] = useState(own[0] ?? "*");
  const list = useListed(() => call("POST /api/members", { project }), project);
  const set = (values: { user?: string | null; team?: string | null; role: string | null }) =>
    attempt(async () => list.set(await call("POST /api/members/set", { project, ...values })), "Not changed");
  const options = own.map((name) => ({ value: name, label: name === "*" ? "Every project" : name }));
  return (
    <section aria-labelledby="members-title">
      <h2 id="members-title">Roles</h2>
      <Select label="Project" value={project} options={options} onChange={setProject} />
      {list.fault ? (
        <ErrorState error={list.fault} onRetry={() => void list.read()} />
      ) : list.found ? (
        <table class="people-table">
          <tbody>
            {list.found.members.map((one) => (
              <tr key={`${one.user ?? ""}/${one.team ?? ""}`}>
                <td class="isolate">{nameOf(one)}</td>
                <td>{one.role}</td>
                <td>
                  <Button kind="quiet" onClick={() => void set({ user: one.user, team: one.team, role: null })}>
                    Remove
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <Skeleton height={40} />
      )}
      <GiveRole onGive={(holder, role) => void set({ ...holder, role })} />
    </section>
  );
}

const managed = (me: Me): string[] =>
  Object.entries(me.roles).flatMap(([project, role]) => (role === "admin" ? [project] : []));

const nameOf = (one: ProjectMember): string => (one.team === null ? (one.user ?? "") : `team ${one.team}`);

const HOLDERS = [
  { value: "user", label: "User" },
  { value: "team", label: "Team" },
] as const;
type Holder = (typeof HOLDERS)[number]["value"];

function GiveRole({ onGive }: { onGive: (holder: { user: string } | { team: string }, role: RoleName) => void }) {
  const [kind, setKind] = useState<Holder>("user");
  const [name, setName] = useState("");
  const [role, setRole] = useState<RoleName>("viewer");
  const give = (event: Event) => {
    event.preventDefault();
    onGive(kind === "user" ? { user: name.trim() } : { team: name.trim() }, role);
    setName("");
  };
  return (
    <form class="people-form" onSubmit={give}>
      <Select label="User or team" value={kind} options={HOLDERS} onChange={(value) => setKind(value)} />
      <TextInput label={`Name of the ${kind}`} placeholder="Name" value={name} onInput={setName} />
      <Select label="Role in this project" value={role} options={ROLES} onChange={(value) => setRole(value)} />
      <Button type="submit" disabled={!name.trim()}>
        Give the role
      </Button>
    </form>
  );
}
