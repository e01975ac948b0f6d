/** View-only links: whoever has one sees a project or a run until it expires, without an account. */

import { useState } from "preact/hooks";
import { Button, Dialog, ErrorState, Select, Skeleton, TextInput } from "../../components";
import { info } from "../../components/topbar";
import { now } from "../../clock";
import { call } from "../../lib/api";
import { formatAge, formatTimeZone, visibleText } from "../../lib/format";
import type { Me, ViewLink } from "../../lib/schema";
import { linkTo } from "../../router";
import "../../style/people.css";
import { attempt, useListed } from "./ask";
import { Secret } from "./secret";

const LIFETIMES = [
  { value: "1", label: "1 day" },
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "365", label: "1 year" },
] as const;
type Lifetime = (typeof LIFETIMES)[number]["value"];

export function ViewLinks({ me }: { me: Me }) {
  const list = useListed(() => call("POST /api/links", {}));
  const own = (info.value?.projects ?? []).filter((project) => mayShare(me, project));
  if (own.length === 0 && !list.found?.links.length) return null;
  if (list.fault) return <ErrorState error={list.fault} onRetry={() => void list.read()} />;
  const revoke = (id: string) =>
    attempt(async () => list.set(await call("POST /api/links/revoke", { id })), "Not revoked");
  return (
    <section aria-labelledby="links-title">
      <h2 id="links-title">View-only links</h2>
      <p class="quiet">To a whole project, without an account. A link to one run is made in the menu of its page.</p>
      {list.found ? null : <Skeleton height={40} />}
      {list.found?.links.length ? <Table rows={list.found.links} onRevoke={(id) => void revoke(id)} /> : null}
      {own.length > 0 ? <MakeLink projects={own} onMade={() => void list.read()} /> : null}
    </section>
  );
}

const mayShare = (me: Me, project: string): boolean =>
  me.admin || ["writer", "admin"].some((role) => me.roles["*"] === role || me.roles[project] === role);

function Table({ rows, onRevoke }: { rows: readonly ViewLink[]; onRevoke: (id: string) => void }) {
  return (
    <table class="people-table">
      <thead>
        <tr>
          <th>Recipient</th>
          <th>Shows</th>
          <th>Last used</th>
          <th>Expires</th>
          <th />
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <td class="isolate">{visibleText(row.name) || "(no name)"}</td>
            <td class="isolate">
              {row.run ? (
                <a href={linkTo(`/run/${row.run}`)}>run …{row.run.slice(-4)}</a>
              ) : (
                visibleText(row.project ?? "")
              )}
            </td>
            <td data-label="Last used">{row.used ? formatAge(row.used, now.value) : "never"}</td>
            <td data-label="Expires">{row.expires ? formatTimeZone(row.expires) : "never"}</td>
            <td>
              <Button kind="quiet" onClick={() => onRevoke(row.id)}>
                Revoke
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function MakeLink({ projects, onMade }: { projects: readonly string[]; onMade: () => void }) {
  const [project, setProject] = useState(projects[0] ?? "");
  const options = projects.map((name) => ({ value: name, label: visibleText(name) }));
  return (
    <NewLink
      what={{ project }}
      before={<Select label="Project to share" value={project} options={options} onChange={setProject} />}
      onMade={onMade}
    />
  );
}

interface NewLinkProps {
  what: { run: string } | { project: string };
  before?: preact.ComponentChildren;
  onMade?: () => void;
}

function NewLink({ what, before, onMade }: NewLinkProps) {
  const [name, setName] = useState("");
  const [days, setDays] = useState<Lifetime>("30");
  const [address, setAddress] = useState("");
  const make = () =>
    attempt(async () => {
      const made = await call("POST /api/links/make", { ...what, name: name.trim(), days: Number(days) });
      setAddress(location.origin + made.url);
      setName("");
      onMade?.();
    }, "No link was made");
  return (
    <>
      {address ? <Secret about="The new link." text={address} onClose={() => setAddress("")} /> : null}
      <form class="people-form" onSubmit={(event) => (event.preventDefault(), void make())}>
        {before}
        <TextInput label="Recipient of the link" placeholder="Recipient" value={name} onInput={setName} />
        <Select label="The link expires after" value={days} options={LIFETIMES} onChange={(value) => setDays(value)} />
        <Button type="submit">Make a link</Button>
      </form>
    </>
  );
}

/** A link to one run. */
export function RunLinkDialog({ run, onClose }: { run: string; onClose: () => void }) {
  return (
    <Dialog title="View-only link to this run" onClose={onClose}>
      <p>Whoever opens it sees this run and nothing else, until it expires or is revoked on the People page.</p>
      <NewLink what={{ run }} />
    </Dialog>
  );
}
