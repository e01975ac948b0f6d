/** Users of the server, for admins: add one, invite again, shut one out. */

import { useState } from "preact/hooks";
import { Button, ErrorState, Select, Skeleton, TextInput } from "../../components";
import { now } from "../../clock";
import { call } from "../../lib/api";
import { formatAge } from "../../lib/format";
import type { Invitation, Person } from "../../lib/schema";
import { attempt, useListed } from "./ask";
import { ROLES, type RoleName } from "./roles";
import { Secret } from "./secret";

export function Users() {
  const list = useListed(() => call("POST /api/people", {}));
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  if (list.fault) return <ErrorState error={list.fault} onRetry={() => void list.read()} />;
  const change = (name: string, values: Change) =>
    attempt(async () => list.set(await call("POST /api/people/change", { name, ...values })), "Not changed");
  const invite = (name: string) =>
    attempt(async () => setInvitation(await call("POST /api/people/invite", { name })), "Not invited");
  return (
    <section aria-labelledby="users-title">
      <h2 id="users-title">Users</h2>
      {invitation ? (
        <Secret
          about={`Send this link to ${invitation.name}. It signs one browser in, once, within three days.`}
          text={location.origin + invitation.url}
          onClose={() => setInvitation(null)}
        />
      ) : null}
      {list.found ? (
        <table class="people-table">
          <thead>
            <tr>
              <th>Name</th>
              <th>Email</th>
              <th>Last seen</th>
              <th />
            </tr>
          </thead>
          <tbody>
            {list.found.people.map((person) => (
              <Row
                key={person.name}
                person={person}
                onInvite={() => void invite(person.name)}
                onChange={(values) => void change(person.name, values)}
              />
            ))}
          </tbody>
        </table>
      ) : (
        <Skeleton height={60} />
      )}
      <AddUser onAdded={(made) => (setInvitation(made), void list.read())} />
    </section>
  );
}

interface Change {
  admin?: boolean;
  disabled?: boolean;
  email?: string;
}

interface RowProps {
  person: Person;
  onInvite: () => void;
  onChange: (values: Change) => void;
}

function Row({ person, onInvite, onChange }: RowProps) {
  const words = [person.admin ? "admin" : "", person.disabled ? "disabled" : ""].filter(Boolean).join(", ");
  return (
    <tr>
      <td class="isolate">
        {person.name} {words ? <span class="quiet">{words}</span> : null}
      </td>
      <td class="isolate people-email">
        <Email person={person} onChange={(email) => onChange({ email })} />
      </td>
      <td data-label="Last seen">{person.signed_in ? formatAge(person.signed_in, now.value) : "never"}</td>
      <td>
        <Button kind="quiet" onClick={onInvite}>
          Invite again
        </Button>
        <Button kind="quiet" onClick={() => onChange({ admin: !person.admin })}>
          {person.admin ? "Remove as admin" : "Make admin"}
        </Button>
        <Button kind="quiet" onClick={() => onChange({ disabled: !person.disabled })}>
          {person.disabled ? "Enable" : "Disable"}
        </Button>
      </td>
    </tr>
  );
}

/** The address, which a click makes editable. */
function Email({ person, onChange }: { person: Person; onChange: (email: string) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  if (typed === null) {
    return (
      <Button kind="quiet" title="Change the email address" onClick={() => setTyped(person.email ?? "")}>
        {person.email ?? "Add email"}
      </Button>
    );
  }
  const save = () => (onChange(typed.trim()), setTyped(null));
  return (
    <form class="people-form" onSubmit={(event) => (event.preventDefault(), save())}>
      <TextInput label={`Email address of ${person.name}`} placeholder="Email" value={typed} onInput={setTyped} />
      <Button type="submit">Save</Button>
    </form>
  );
}

function AddUser({ onAdded }: { onAdded: (made: Invitation) => void }) {
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<RoleName>("writer");
  const [project, setProject] = useState("");
  const add = () =>
    attempt(async () => {
      const where = project.trim() || "*";
      const address = email.trim() || undefined;
      onAdded(await call("POST /api/people/add", { name: name.trim(), email: address, role, project: where }));
      setName("");
      setEmail("");
    }, "Not added");
  return (
    <form class="people-form" onSubmit={(event) => (event.preventDefault(), void add())}>
      <TextInput label="Name of the new user" placeholder="Name" value={name} onInput={setName} />
      <TextInput
        label="Email address of the new user"
        placeholder="Email (optional)"
        value={email}
        onInput={setEmail}
      />
      <Select label="Role" value={role} options={ROLES} onChange={(value) => setRole(value)} />
      <TextInput label="Project of the role" placeholder="Every project" value={project} onInput={setProject} />
      <Button type="submit" disabled={!name.trim()}>
        Add and invite
      </Button>
    </form>
  );
}
