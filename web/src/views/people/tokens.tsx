/** My tokens and signed-in browsers: what each may do, when it was last used; make one, revoke one. */

import { useState } from "preact/hooks";
import { Button, Checkbox, ErrorState, Select, Skeleton, TextInput } from "../../components";
import { now } from "../../clock";
import { call } from "../../lib/api";
import { formatAge, formatTimeZone, visibleText } from "../../lib/format";
import type { TokenRow } from "../../lib/schema";
import { attempt, useListed } from "./ask";
import { Secret } from "./secret";

const LIFETIMES = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "", label: "Until revoked" },
] as const;
type Lifetime = (typeof LIFETIMES)[number]["value"];

export function Tokens({ scopes }: { scopes: readonly string[] }) {
  const list = useListed(() => call("POST /api/tokens", {}));
  const [secret, setSecret] = useState("");
  if (list.fault) return <ErrorState error={list.fault} onRetry={() => void list.read()} />;
  const revoke = (id: string) =>
    attempt(async () => list.set(await call("POST /api/tokens/revoke", { id })), "Not revoked");
  return (
    <section aria-labelledby="tokens-title">
      <h2 id="tokens-title">Tokens</h2>
      <p class="quiet">
        For scripts, and for <code>stepscope login</code> on a machine that trains.
      </p>
      {secret ? <Secret about="The new token." text={secret} onClose={() => setSecret("")} /> : null}
      {list.found ? <Table rows={list.found.tokens} onRevoke={(id) => void revoke(id)} /> : <Skeleton height={60} />}
      <MakeToken scopes={scopes} onMade={(made) => (setSecret(made), void list.read())} />
    </section>
  );
}

function Table({ rows, onRevoke }: { rows: readonly TokenRow[]; onRevoke: (id: string) => void }) {
  return (
    <table class="people-table">
      <thead>
        <tr>
          <th>Name</th>
          <th>Scopes</th>
          <th>Last used</th>
          <th>Expires</th>
          <th />
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <td class="isolate">{row.kind === "session" ? "Browser" : visibleText(row.name) || "(no name)"}</td>
            <td>{row.scopes.join(", ")}</td>
            <td data-label="Last used" title={row.used ? formatTimeZone(row.used) : undefined}>
              {row.used ? formatAge(row.used, now.value) : "never"}
            </td>
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

function MakeToken({ scopes, onMade }: { scopes: readonly string[]; onMade: (secret: string) => void }) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>(["ingest"]);
  const [days, setDays] = useState<Lifetime>("365");
  const make = () =>
    attempt(async () => {
      const asked = { name, scopes: [...chosen], days: days ? Number(days) : null };
      onMade((await call("POST /api/tokens/make", asked)).secret);
      setName("");
    }, "No token was made");
  const toggle = (scope: string, on: boolean) =>
    setChosen(on ? [...chosen, scope] : chosen.filter((one) => one !== scope));
  return (
    <form class="people-form" onSubmit={(event) => (event.preventDefault(), void make())}>
      <TextInput label="Name of the new token" placeholder="gpu-box" value={name} onInput={setName} />
      {scopes.map((scope) => (
        <Checkbox
          key={scope}
          label={scope}
          visible
          checked={chosen.includes(scope)}
          onChange={(on) => toggle(scope, on)}
        />
      ))}
      <Select label="Expires" value={days} options={LIFETIMES} onChange={(value) => setDays(value)} />
      <Button type="submit" disabled={chosen.length === 0}>
        Make a token
      </Button>
    </form>
  );
}
